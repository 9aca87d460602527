#pragma once

#include <chrono>
#include <string>

#include "job_run.h"

namespace shoal::detail {

/// Throws UsageError if the file for a report cannot be written, while there is time to mend it.
void check_report_file(const std::string& file);

/// Writes what became of a job (schema shoal.job/1, docs/launcher.md) to `file`, or to standard output for "-".
/// `restarts`: how often it was started again; the report is that of the last time. False, with errno, if that fails.
bool write_report(const std::string& file, const JobRun& job, int restarts, std::chrono::duration<double> wall);

/// The same of a job that was refused, for the reason `why`, before it had any memory. `exit_code`: of shoalrun.
bool write_report_of_refusal(const std::string& file, int ranks, int restarts, int exit_code, const std::string& why);

}  // namespace shoal::detail
