#pragma once

#include <string>
#include <string_view>
#include <thread>

namespace ticopd::app {

// Holds back the paragraphs that mpirun itself writes when a rank fails: blocks between rules of
// dashes (Open MPI) or equals signs (MPICH). Our own line says what happened; theirs repeat it in
// other words. Everything else passes at once, also half a line: progress has no line ends.
class ParagraphFilter {
 public:
  std::string pass(std::string_view text);           // what may be shown now
  std::string rest();                                // at the end: an unfinished line
  const std::string& held() const { return held_; }  // the paragraphs

 private:
  void take(char c, std::string& shown);
  void end_line(std::string& shown);

  std::string line_;  // that may yet become part of a paragraph
  std::string held_;
  char rule_ = 0;         // of the block we are in; 0: none
  int lines_ = 0;         // of that block
  bool passing_ = false;  // the rest of this line is shown
};

// A pipe for the stderr of mpirun, and a thread that shows what passes the filter.
class FilteredErrors {
 public:
  FilteredErrors();
  ~FilteredErrors();
  FilteredErrors(const FilteredErrors&) = delete;
  FilteredErrors& operator=(const FilteredErrors&) = delete;

  int write_end() const { return ends_[1]; }  // for the child
  void begin();                               // after the child has it
  // After mpirun has ended: shows the rest and returns the paragraphs that were not shown.
  std::string finish();

 private:
  int ends_[2] = {-1, -1};
  int wake_[2] = {-1, -1};
  ParagraphFilter filter_;
  std::thread reader_;
};

}  // namespace ticopd::app
