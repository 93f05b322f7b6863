// The messages for a device that cannot be used. These tests need no device.
#include <gtest/gtest.h>

#include <functional>

#include "ticopd/cuda/device.hpp"
#include "ticopd/error.hpp"

namespace ticopd::cuda {
namespace {

Found usable() {
  return {.devices = 1, .driver = 13000, .runtime = 13000, .name = "A GPU", .major = 9, .minor = 0};
}

void expect_refused(const std::function<void()>& asked, const std::string& why) {
  try {
    asked();
    FAIL() << "not refused: " << why;
  } catch (const UnavailableError& e) {
    const std::string told = e.what();
    EXPECT_EQ(e.exit_code(), 69);
    EXPECT_TRUE(told.starts_with("--device cuda: ")) << told;
    EXPECT_NE(told.find(why), std::string::npos) << told;
    EXPECT_TRUE(told.ends_with("; run with --device cpu")) << told;
    EXPECT_EQ(told.find('\n'), std::string::npos) << told;
  }
}

void expect_refused(const Found& found, const std::string& why) {
  expect_refused([&] { require_usable(found); }, why);
}

TEST(DeviceCheck, AcceptsAUsableDevice) {
  EXPECT_NO_THROW(require_usable(usable()));
  Found newer = usable();
  newer.driver = 14020;
  EXPECT_NO_THROW(require_usable(newer));
}

TEST(DeviceCheck, NamesAMissingDriver) {
  Found found = usable();
  found.driver = found.devices = 0;
  for (const cudaError_t asked :
       {cudaErrorNoDevice, cudaErrorInsufficientDriver, cudaErrorStubLibrary}) {
    found.asked = asked;
    expect_refused(found, "there is no NVIDIA driver here");
  }
}

TEST(DeviceCheck, NamesBothVersionsIfTheDriverIsTooOld) {
  Found found = usable();
  found.driver = 12080;
  expect_refused(found, "the driver knows CUDA 12.8, and this build needs 13.0");
  found = usable();
  found.driver = 12080;
  found.asked = cudaErrorInsufficientDriver;
  found.devices = 0;
  expect_refused(found, "the driver knows CUDA 12.8, and this build needs 13.0");
}

TEST(DeviceCheck, NamesADriverThatDoesNotWork) {
  for (const cudaError_t asked :
       {cudaErrorSystemDriverMismatch, cudaErrorSystemNotReady, cudaErrorCompatNotSupportedOnDevice,
        cudaErrorInitializationError}) {
    Found found = usable();
    found.asked = asked;
    found.devices = 0;
    expect_refused(found, "the driver does not work (");
    expect_refused(found, cudaGetErrorString(asked));
  }
}

TEST(DeviceCheck, NamesAMissingGpu) {
  Found found = usable();
  found.devices = 0;
  expect_refused(found, "there is no GPU here");
  found.asked = cudaErrorNoDevice;
  expect_refused(found, "there is no GPU here");
}

TEST(DeviceCheck, NamesAGpuWithoutKernels) {
  for (const cudaError_t kernels :
       {cudaErrorNoKernelImageForDevice, cudaErrorInvalidDeviceFunction}) {
    Found found = usable();
    found.kernels = kernels;
    found.major = 8;
    found.minor = 6;
    expect_refused(found, "A GPU has compute capability 8.6, for which this build has no kernels");
  }
}

TEST(DeviceCheck, NamesTooManyAgentsOrLinks) {
  EXPECT_NO_THROW(require_grids(65535, 65535, 65535));
  expect_refused([] { require_grids(65536, 0, 10); }, "65536 agents, and");
  expect_refused([] { require_grids(257, 65792, 10); }, "65792 links (both ways) that come and go");
  expect_refused([] { require_grids(10, 0, 70000); }, "70000 units in a layer, and");
  expect_refused([] { require_grids(10, 0, 70000); }, "at most 65535");
}

TEST(DeviceCheck, NamesAGpuInUse) {
  Found found = usable();
  found.kernels = cudaErrorDevicesUnavailable;
  expect_refused(found, "A GPU cannot be used (");
}

}  // namespace
}  // namespace ticopd::cuda
