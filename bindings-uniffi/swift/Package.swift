// swift-tools-version:5.9
import Foundation
import PackageDescription

// For Apple's systems `xcframework.sh` puts the library here; elsewhere `package.sh` puts it into `lib`.
let framework = "RailgateFFI.xcframework"
let bundled = FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/\(framework)")
let library = "\(Context.packageDirectory)/lib"

let package = Package(
    name: "railgate",
    platforms: [.iOS(.v15), .macOS(.v12)],
    products: [.library(name: "Railgate", targets: ["Railgate"])],
    targets: [
        .target(
            name: "Railgate",
            dependencies: ["RailgateFFI"],
            linkerSettings: bundled
                ? [.linkedFramework("Security")]
                // Finds the library where it was built or beside the program that ships it.
                : [.unsafeFlags(["-L\(library)", "-Xlinker", "-rpath", "-Xlinker", library, "-Xlinker", "-rpath", "-Xlinker", "$ORIGIN"])]
        ),
        bundled ? .binaryTarget(name: "RailgateFFI", path: framework) : .systemLibrary(name: "RailgateFFI"),
    ]
)
