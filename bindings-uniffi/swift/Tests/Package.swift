// swift-tools-version:5.9
import PackageDescription

// Uses the package as any other project would.
let railgate: Target.Dependency = .product(name: "Railgate", package: "railgate")

let package = Package(
    name: "railgate-tests",
    platforms: [.macOS(.v12)],
    dependencies: [.package(path: "../railgate")],
    targets: [
        .executableTarget(name: "Settle", dependencies: [railgate], path: "Settle"),
        .target(name: "Support", dependencies: [railgate], path: "Support"),
        .executableTarget(name: "OutboxChild", dependencies: [railgate, "Support"], path: "OutboxChild"),
        .executableTarget(name: "Bench", dependencies: [railgate], path: "Bench"),
        .testTarget(name: "RailgateTests", dependencies: [railgate, "Support"], path: "RailgateTests"),
    ]
)
