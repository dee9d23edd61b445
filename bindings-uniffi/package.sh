#!/bin/sh
# Makes the package of one language from a built library:
#
#   ./package.sh python LIBRARY BINDGEN FOLDER      a wheel for this platform, in FOLDER/dist
#   ./package.sh kotlin LIBRARY BINDGEN FOLDER      a Maven module for this platform's JVM, in FOLDER/module
#   ./package.sh android LIBRARIES MODULE FOLDER    an AAR, in FOLDER/repository, which is laid out as Maven's
#   ./package.sh swift LIBRARY BINDGEN FOLDER       a Swift package for this platform, in FOLDER/railgate (for Apple's: swift/xcframework.sh)
#
# LIBRARY is the librailgate_uniffi to ship, BINDGEN the example `uniffi-bindgen`, which reads the interface from the library that it was
# built with.
# LIBRARIES is a folder with <abi>/librailgate_uniffi.so for each of Android's ABIs, MODULE a module that Maven has compiled.
# Everything goes into FOLDER, replacing its contents.
set -eu

language=$1 library=$2 bindgen=$3 folder=$4
source=$(cd -- "$(dirname -- "$0")" && pwd)

# The generator finds uniffi.toml through cargo.
generate() { # LANGUAGE FOLDER
  case "$(uname -s)" in Darwin) extension=dylib ;; *) extension=so ;; esac
  described=$(dirname -- "$(dirname -- "$bindgen")")/deps/librailgate_uniffi.$extension
  (cd "$source" && "$bindgen" generate --metadata-no-deps --no-format --language "$1" --out-dir "$2" "$described") >&2
}

# What the project asks of whoever passes it on.
licensed() { # FOLDER
  mkdir -p "$1"
  cp "$source/../LICENSE" "$source/../LICENSE-APACHE" "$source/../LICENSE-MIT" "$1"
}

anew() { # FOLDER
  rm -rf "$1"
  mkdir -p "$1"
}

# JNA's name for this machine: the folder on the class path where it looks for libraries.
jna_platform() {
  case "$(uname -s)" in Darwin) system=darwin ;; *) system=linux ;; esac
  case "$(uname -m)" in x86_64 | amd64) machine=x86-64 ;; arm64 | aarch64) machine=aarch64 ;; *) machine=$(uname -m) ;; esac
  printf '%s-%s\n' "$system" "$machine"
}

case "$language" in
  python)
    # The Python with setuptools, from the caller's environment.
    python=${PYTHON:-python3}
    anew "$folder/package"
    cp -R "$source/python/pyproject.toml" "$source/python/setup.py" "$source/python/README.md" "$source/python/src" "$folder/package"
    licensed "$folder/package"
    generate python "$folder/generated"
    "$python" "$source/python/generated.py" "$folder/generated/railgate.py" >"$folder/package/src/railgate/_native.py"
    cp "$library" "$folder/package/src/railgate/"
    if [ "${STRIP:-}" ]; then $STRIP "$folder/package/src/railgate/$(basename "$library")"; fi
    anew "$folder/dist"
    "$python" -m pip --quiet --disable-pip-version-check wheel --no-deps --no-build-isolation --no-index \
      --wheel-dir "$folder/dist" "$folder/package" >&2
    ;;
  kotlin)
    module=$folder/module
    anew "$module"
    cp -R "$source/kotlin/pom.xml" "$source/kotlin/src" "$module"
    anew "$folder/generated"
    generate kotlin "$folder/generated"
    generated=$folder/generated/dev/railgate/railgate.kt
    awk -f "$source/kotlin/generated.awk" "$generated" "$generated" >"$module/src/main/kotlin/dev/railgate/railgate.kt"
    resources=$module/src/main/resources/$(jna_platform)
    mkdir -p "$resources"
    cp "$library" "$resources"
    # In a folder of its own: Android refuses two files of one name.
    licensed "$module/src/main/resources/META-INF/railgate"
    if [ "${STRIP:-}" ]; then $STRIP "$resources/$(basename "$library")"; fi
    ;;
  android)
    libraries=$2 classes=$3/target/classes
    anew "$folder/aar"
    cp "$source/kotlin/android/AndroidManifest.xml" "$source/kotlin/android/proguard.txt" "$folder/aar"
    # There are no resources, but their list must exist.
    : >"$folder/aar/R.txt"
    metadata=$folder/aar/META-INF/com/android/build/gradle
    mkdir -p "$metadata"
    cp "$source/kotlin/android/aar-metadata.properties" "$metadata"
    for abi in arm64-v8a armeabi-v7a x86_64; do
      mkdir -p "$folder/aar/jni/$abi"
      cp "$libraries/$abi/librailgate_uniffi.so" "$folder/aar/jni/$abi"
      if [ "${STRIP:-}" ]; then $STRIP "$folder/aar/jni/$abi/librailgate_uniffi.so"; fi
    done
    # Without this platform's library, which is beside them.
    jar --create --no-manifest --file "$folder/aar/classes.jar" -C "$classes" dev -C "$classes" META-INF
    artifact=$folder/repository/dev/railgate/railgate-android/0.1.0
    anew "$artifact"
    jar --create --no-manifest --file "$artifact/railgate-android-0.1.0.aar" -C "$folder/aar" .
    cp "$source/kotlin/android/pom.xml" "$artifact/railgate-android-0.1.0.pom"
    cp "$3/target/railgate-0.1.0-sources.jar" "$artifact/railgate-android-0.1.0-sources.jar"
    ;;
  swift)
    package=$folder/railgate
    mkdir -p "$package"
    # .build stays: Swift compiles only changes.
    rm -rf "$package/Sources" "${package:?}/lib"
    cp -R "$source/swift/Package.swift" "$source/swift/README.md" "$source/swift/Sources" "$package"
    licensed "$package"
    generate swift "$folder/generated"
    awk -f "$source/swift/generated.awk" "$folder/generated/Railgate.swift" >"$package/Sources/Railgate/Generated.swift"
    cp "$folder/generated/RailgateFFI.h" "$package/Sources/RailgateFFI"
    mkdir "$package/lib"
    cp "$library" "$package/lib"
    if [ "${STRIP:-}" ]; then $STRIP "$package/lib/$(basename "$library")"; fi
    ;;
  *)
    printf 'error: no package for %s\n' "$language" >&2
    exit 2
    ;;
esac
