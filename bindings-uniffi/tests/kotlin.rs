//! The Kotlin module as shipped: built by Maven, tested by JUnit on the JVM against a real gateway.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod support;

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

use railgate_tests::binary::Server;
use railgate_tests::interop::run;
use railgate_tests::stage::Stage;
use support::{command, package, scratch};

const KOTLIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kotlin");

/// The number of tests in the sources, so that one that JUnit skips is noticed.
fn written() -> usize {
    let tests = std::fs::read_dir(format!("{KOTLIN}/src/test/kotlin/dev/railgate")).unwrap().map(|entry| entry.unwrap().path());
    let kotlin: String =
        tests.filter(|path| path.extension().is_some_and(|end| end == "kt")).map(|path| read_to_string(path).unwrap()).collect();
    kotlin.lines().filter(|line| matches!(line.trim(), "@Test" | "@ParameterizedTest")).count()
}

/// The number of tests that ran, from Maven's summary; none failed and none was skipped.
fn ran(printed: &str) -> usize {
    let total = printed.lines().filter_map(|line| line.split_once("Tests run: ")).next_back().unwrap_or_else(|| panic!("{printed}")).1;
    let (count, rest) = total.split_once(", ").unwrap();
    assert!(rest.starts_with("Failures: 0, Errors: 0, Skipped: 0"), "{printed}");
    count.parse().unwrap()
}

/// Public declarations of the generated source without documentation. UniFFI puts our names in backquotes, except types.
fn undocumented(source: &str) -> Vec<&str> {
    let ours =
        |name: &str| !["Uniffi", "RustBuffer", "InternalException", "NoHandle", "Disposable"].iter().any(|own| name.starts_with(own));
    let is_public = |line: &str| {
        let types = ["public interface ", "open class ", "data class ", "enum class ", "sealed class ", "public typealias "];
        let constant = line.strip_prefix("    ").unwrap_or_default().trim_end_matches([',', ';']);
        types.iter().find_map(|kind| line.strip_prefix(kind)).is_some_and(ours)
            || (line.contains("fun `") || line.contains("val `")) && !line.contains("private ")
            || !constant.is_empty() && constant.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
    };
    let mut before = "";
    let mut found = Vec::new();
    for line in source.lines().filter(|line| !line.trim().is_empty()) {
        if is_public(line) && !before.trim().ends_with("*/") {
            found.push(line);
        }
        if !line.trim().starts_with('@') || line.contains("fun `") {
            before = line;
        }
    }
    found
}

fn maven(module: &Path, goal: &str) -> std::process::Command {
    let mut maven = command(Path::new("mvn"));
    // Gives up on a registry that stops responding.
    maven.args(["--batch-mode", "--no-transfer-progress", "-Dstyle.color=never", "-Dmaven.wagon.rto=60000", "-f"]);
    maven.arg(module.join("pom.xml")).arg(goal);
    maven
}

/// Maven does not retry when a registry stops responding, but it keeps what it has fetched.
fn packaged(build: &mut std::process::Command) -> String {
    let mut outcome = run(build);
    for _ in 1..3 {
        if !outcome.as_ref().is_err_and(|error| error.contains("Could not transfer")) {
            break;
        }
        outcome = run(build);
    }
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

fn entries(jar: &Path) -> String {
    run(command(Path::new("jar")).arg("tf").arg(jar)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_module_passes_its_tests() {
    let _alone = scratch().locked("kotlin");
    let module: PathBuf = package("kotlin", &[]).join("module");
    let source = read_to_string(module.join("src/main/kotlin/dev/railgate/railgate.kt")).unwrap();
    assert!(source.contains("A client of a gateway on behalf of the device's key.") && source.contains("As [GatewayClient.settlement]."));
    assert_eq!(undocumented(&source), Vec::<&str>::new(), "public without documentation");
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("gateway.db"), &[]);
    let mut build = maven(&module, "package");
    build.env("RAILGATE_TEST_URL", format!("http://{}", server.address));
    build.env("RAILGATE_SCENARIOS", concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/scenarios"));
    let stage = Stage::set(&[]);
    let printed = packaged(stage.show(&mut build));
    stage.assert_played();
    let (ran, written) = (ran(&printed), written());
    assert!(ran >= written && written > 20, "{ran} of {written}:\n{printed}");

    let jar = entries(&module.join("target/railgate-0.1.0.jar"));
    let library = format!("{}railgate_uniffi{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    assert!(jar.lines().any(|entry| entry.ends_with(&library)) && jar.contains("dev/railgate/GatewayClient.class"), "{jar}");
    assert!(entries(&module.join("target/railgate-0.1.0-sources.jar")).contains("dev/railgate/railgate.kt"));
    packed_for_android(&module);
}

/// Packs an AAR from the classes just tested. The libraries are for this machine: only the packing is tested.
fn packed_for_android(module: &Path) {
    let folder = scratch().of("android");
    for abi in ABIS {
        let of_abi = folder.join("libraries").join(abi);
        std::fs::create_dir_all(&of_abi).unwrap();
        std::fs::write(of_abi.join("librailgate_uniffi.so"), format!("the library for {abi}")).unwrap();
    }
    let mut pack = command(Path::new("sh"));
    pack.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/package.sh")).arg("android").arg(folder.join("libraries")).arg(module).arg(&folder);
    run(&mut pack).unwrap_or_else(|error| panic!("{error}"));

    let artifact = folder.join("repository/dev/railgate/railgate-android/0.1.0");
    let listed = entries(&artifact.join("railgate-android-0.1.0.aar"));
    let files: BTreeSet<&str> = listed.lines().filter(|entry| !entry.ends_with('/')).collect();
    let libraries = ABIS.map(|abi| format!("jni/{abi}/librailgate_uniffi.so"));
    let fixed =
        ["AndroidManifest.xml", "META-INF/com/android/build/gradle/aar-metadata.properties", "R.txt", "classes.jar", "proguard.txt"];
    assert_eq!(files, fixed.into_iter().chain(libraries.iter().map(String::as_str)).collect());
    for abi in ABIS {
        let inside = read_to_string(folder.join(format!("aar/jni/{abi}/librailgate_uniffi.so"))).unwrap();
        assert_eq!(inside, format!("the library for {abi}"));
    }
    assert!(read_to_string(folder.join("aar/AndroidManifest.xml")).unwrap().contains(r#"android:minSdkVersion="24""#));
    let classes = folder.join("aar/classes.jar");
    let inside = entries(&classes);
    assert!(inside.contains("dev/railgate/GatewayClient.class") && !inside.contains("librailgate_uniffi"), "{inside}");
    assert_eq!(missing_from(&classes, module), "", "classes that neither the AAR nor what it depends on has");
    let (android, jvm) =
        (read_to_string(artifact.join("railgate-android-0.1.0.pom")).unwrap(), read_to_string(module.join("pom.xml")).unwrap());
    for version in android.lines().filter_map(|line| line.trim().strip_prefix("<version>")?.strip_suffix("</version>")) {
        assert!(jvm.contains(&format!(">{version}<")), "{version} is not what was tested");
    }
}

const ABIS: [&str; 3] = ["arm64-v8a", "armeabi-v7a", "x86_64"];

/// Missing documentation according to the JDK's own tool; Maven wrote the class path beside the module's classes.
fn missing_from(classes: &Path, module: &Path) -> String {
    let path = read_to_string(module.join("target/class-path")).unwrap();
    let mut jdeps = command(Path::new("jdeps"));
    run(jdeps.args(["--multi-release", "17", "--missing-deps", "--class-path"]).arg(path.trim()).arg(classes))
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn android_without_an_ndk_is_told_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut build = command(Path::new("sh"));
    build.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/build-android.sh")).arg(folder.path());
    let told = run(build.env("ANDROID_NDK_HOME", folder.path())).unwrap_err();
    assert!(told.contains("error: no Android NDK in ") && told.contains("set ANDROID_NDK_HOME"), "{told}");
}

#[test]
fn the_readme_shows_the_examples() {
    let readme = read_to_string(format!("{KOTLIN}/README.md")).unwrap();
    for name in ["Settle.kt", "Tour.kt", "Phone.kt", "Partner.kt"] {
        let example = read_to_string(format!("{KOTLIN}/src/test/kotlin/dev/railgate/example/{name}")).unwrap();
        let (_, code) = example.split_once("import ").unwrap();
        assert!(readme.contains(&format!("```kotlin\nimport {code}```\n")), "kotlin/README.md shows another program than {name}");
    }
}
