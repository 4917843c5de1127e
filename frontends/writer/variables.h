// Variables: tensors that operators read and assign by name, and that keep their content between runs. While a file is
// read each assignment takes effect in the order of the operators. A variable that an operator changes becomes a state
// of the graph; one that only its first value fills is a constant.
#ifndef HEARTH_FRONTENDS_WRITER_VARIABLES_H_
#define HEARTH_FRONTENDS_WRITER_VARIABLES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontends/writer/node_writer.h"

namespace hearth {

class Variables {
 public:
  // A variable, as far as its operators have been read.
  struct Content {
    ValueId first = kNoValue;    // a constant: its first value
    ValueId state = kNoValue;    // its content when a run begins, if an operator reads that
    ValueId begun = kNoValue;    // `state`, or in the first run `first`
    ValueId current = kNoValue;  // its content at this point of reading
  };
  // A variable's name. Copies share the text: each level of nested branches keeps all variables three times.
  class Name {
   public:
    Name(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}  // NOLINT: implicit
    const std::string& text() const { return *text_; }
    operator const std::string&() const { return *text_; }  // NOLINT: implicit
    struct Before {
      using is_transparent = void;
      bool operator()(const std::string& one, const std::string& other) const { return one < other; }
    };

   private:
    std::shared_ptr<const std::string> text_;
  };
  using Contents = std::map<Name, Content, Name::Before>;

  // `outer`: for part of a loop on the host, the variables around the loop.
  Variables(NodeWriter& to, Variables* outer) : to_(to), outer_(outer) {}

  // Says which variables operators change, apart from first values; asked by need.
  void SetChanges(std::function<bool(const std::string&)> changes) { changes_ = std::move(changes); }
  // Until it is called again, assigned values are the variables' first ones.
  bool SetInitializing(bool is_initializing) { return std::exchange(is_initializing_, is_initializing); }
  // A variable that an operator has for itself (the draws of a random one, a state of a called subgraph): it begins
  // with zeros. Branches and loops reset it each time that they run.
  void Declare(const std::string& name, const TensorDesc& desc);
  // A constant that stands for the variable.
  Made AddHandle(const std::string& name, const TensorDesc& desc);
  ValueId HandleOf(const std::string& name) const;
  size_t handle_count() const { return handle_of_.size(); }

  // The content at this point. The first reading of a variable that is changed makes it a state.
  Made Read(const std::string& name);
  Status Assign(const std::string& name, ValueId value);

  // ---- Branches and loops ----

  Result<Contents> Copy();  // to undo changes; counts as steps
  Contents Exchange(Contents contents) { return std::exchange(contents_, std::move(contents)); }
  const Contents& contents() const { return contents_; }
  Content ContentOf(const std::string& name) { return contents_[name]; }
  void Restore(const std::string& name, const Content& content) { contents_[name] = content; }
  // Before conditional operators: gives each variable that an operator changes a content on both branches.
  Status BeginAll();
  // Variables that began on one branch have begun on the other branch too.
  static void KeepBegun(const Contents& from, Contents& to);
  void KeepBegunOf(const Contents& other_branch) { KeepBegun(other_branch, contents_); }
  // Makes own variables begin anew while a branch or loop is written; returns what EndFresh needs.
  Result<Contents> BeginFresh();
  void EndFresh(const Contents& before);
  // Within part of a loop on the host: makes the content from outside the loop an input of the part.
  Made BeginInLoop(const std::string& name);
  // Such inputs, the last ones of the part.
  const std::vector<std::string>& loop_names() const { return loop_names_; }

  // Adds the states that variables became, with their contents at the end of a run.
  void Finish();

 private:
  bool IsOwn(const std::string& name) { return Own().contains(name); }
  std::map<std::string, TensorDesc>& Own() { return outer_ == nullptr ? own_ : outer_->Own(); }
  bool IsChanged(const std::string& name);
  const TensorDesc* DescOutside(const std::string& name) const;
  Made AddZeros(const std::string& name);
  Made BeginState(const std::string& name, Content& variable);
  ValueId WasRun();

  NodeWriter& to_;
  Variables* outer_;
  std::function<bool(const std::string&)> changes_;
  bool is_initializing_ = false;
  Contents contents_;
  std::map<std::string, ValueId> handle_of_;
  std::map<std::string, TensorDesc> own_;  // of the outermost
  int fresh_parts_ = 0;                    // branches and loops that are being written, one in the other
  std::vector<std::string> loop_names_;
  std::map<std::string, size_t> loop_places_;  // in this list
  ValueId was_run_ = kNoValue;                 // state: false in the first run, where a first value is not all zeros
};

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_VARIABLES_H_
