// hearth devices
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "hearth/device.h"
#include "runtime/devices/driver_watch.h"
#include "tools/hearth/device_listing.h"
#include "tools/hearth/printing.h"
#include "tools/hearth/session_flags.h"
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
    CLI::Option* profiles =
        app.add_flag("--profiles", lists_profiles_, "The devices that --simulate can make a software driver act as");
    AddSimulateOption(app, simulate_)->excludes(profiles);
    output_.AddOptions(app);
  }

  Result<ExitCode> Run() override {
    return lists_rules_ ? ListRules() : lists_profiles_ ? ListProfiles() : ListAllDevices();
  }

 private:
  // With a profile also the devices on which the rule then applies; without one no driver is opened for the list.
  Result<ExitCode> ListRules() {
    const bool is_simulation = !simulate_.empty();
    std::vector<DeviceDescription> devices;
    if (is_simulation) {
      HEARTH_ASSIGN(devices, ListDevicesAs(simulate_));
    }
    std::vector<std::string> columns{"rule", "where it applies", "measured"};
    if (is_simulation) columns.insert(columns.begin() + 1, "applies to");
    TextTable table(columns);
    Json rules = Json::array();
    for (const DriverRule& rule : DriverRules()) {
      std::vector<std::string> row{rule.name, rule.sentence, rule.measured}, ids;
      Json json = {{"name", rule.name}, {"sentence", rule.sentence}, {"measured", rule.measured}};
      for (const DeviceDescription& device : devices) {
        const auto of_device = device.rules.find(rule.name);
        if (of_device != device.rules.end() && of_device->second) ids.push_back(device.id);
      }
      if (is_simulation) {
        row.insert(row.begin() + 1, ids.empty() ? "no device" : fmt::format("{}", fmt::join(ids, ", ")));
        json["applies_to"] = ids;
      }
      table.AddRow(std::move(row));
      rules.push_back(std::move(json));
    }
    output_.PrintText(table.ToString());
    HEARTH_TRY(output_.WriteJson({{"rules", rules}}));
    return ExitCode::kFine;
  }

  Result<ExitCode> ListProfiles() {
    TextTable table({"profile", "device", "type", "APIs", "numbers from"});
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
    TextTable table({"device", "usable", "type", "name", "driver, or why not"});
    Json devices = Json::array();
    HEARTH_ASSIGN(const std::vector<DeviceDescription> listed, ListDevicesAs(simulate_));
    if (const std::string wrong = WrongBackendsVariable(); !wrong.empty()) output_.PrintWarning(wrong);
    for (const DeviceDescription& device : listed) {
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
  std::string simulate_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Verb> MakeDevicesCommand() {
  return std::make_unique<DevicesCommand>();
}

}  // namespace hearth
