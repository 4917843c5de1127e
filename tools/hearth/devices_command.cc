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
      : Verb({"devices", "Lists every device of every backend, and why one is not usable",
              "hearth devices --json devices.json"}) {}

  void AddOptions(CLI::App& app) override {
    app.add_flag("--rules", lists_rules_, "What Hearth knows about drivers: the rules that --rules forces on or off");
    app.add_flag("--profiles", lists_profiles_, "The devices that --simulate can make a software driver act as");
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    return lists_rules_ ? ListRules() : lists_profiles_ ? ListProfiles() : ListAllDevices();
  }

 private:
  Result<ExitCode> ListRules() {
    TextTable table({{"rule"}, {"where it applies"}, {"measured"}});
    Json rules = Json::array();
    for (const DriverRule& rule : DriverRules()) {
      table.AddRow({rule.name, rule.sentence, rule.measured});
      rules.push_back({{"name", rule.name}, {"sentence", rule.sentence}, {"measured", rule.measured}});
    }
    output_.PrintText(table.ToString());
    HEARTH_TRY(output_.WriteJson({{"rules", rules}}));
    return ExitCode::kFine;
  }

  Result<ExitCode> ListProfiles() {
    TextTable table({{"profile"}, {"device"}, {"type"}, {"APIs"}, {"numbers from"}});
    Json profiles = Json::array();
    for (const SimulatedDevice& device : SimulatedDevices()) {
      table.AddRow({device.name, device.title, device.type, device.apis, device.source});
      profiles.push_back({{"name", device.name},
                          {"title", device.title},
                          {"type", device.type},
                          {"apis", device.apis},
                          {"source", device.source}});
    }
    output_.PrintText(table.ToString());
    HEARTH_TRY(output_.WriteJson({{"profiles", profiles}}));
    return ExitCode::kFine;
  }

  Result<ExitCode> ListAllDevices() {
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
                         {"features", device.features},
                         {"rules", device.rules}});
    }
    output_.PrintText(table.ToString());
    HEARTH_TRY(output_.WriteJson({{"devices", devices}}));
    return ExitCode::kFine;
  }

  bool lists_rules_ = false, lists_profiles_ = false;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Verb> MakeDevicesCommand() {
  return std::make_unique<DevicesCommand>();
}

}  // namespace hearth
