using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "everything", worker = (
      compatibilityDate = "2026-11-01",
      modules = [MODULES],
    )),
    # The gateway of the tests is on this machine.
    (name = "internet", network = (allow = ["local", "private"])),
  ],
);
