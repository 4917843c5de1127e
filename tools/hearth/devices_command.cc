// hearth devices
#include "core/base/error.h"
#include "hearth/device.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

class DevicesCommand final : public Verb {
 public:
  DevicesCommand()
      : Verb({"devices", "Every device of every backend, usable or not and why",
              "hearth devices --json devices.json"}) {}

  void AddOptions(CLI::App& app) override { output_.AddOptions(app); }

  Result<ExitCode> Run() override {
    TextTable table({{"device"}, {"usable"}, {"type"}, {"name"}, {"driver, or why not"}});
    Json devices = Json::array();
    for (const DeviceDescription& device : ListDevices()) {
      table.AddRow({device.id, device.usable ? "yes" : "no", device.type, device.name,
                    device.usable ? device.driver : device.reason});
      devices.push_back({{"id", device.id},
                         {"backend", device.backend},
                         {"name", device.name},
                         {"driver", device.driver},
                         {"type", device.type},
                         {"usable", device.usable},
                         {"reason", device.reason},
                         {"features", device.features}});
    }
    output_.PrintText(table.ToString());
    HEARTH_TRY(output_.WriteJson({{"devices", devices}}));
    return ExitCode::kFine;
  }

 private:
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Verb> MakeDevicesCommand() {
  return std::make_unique<DevicesCommand>();
}

}  // namespace hearth
