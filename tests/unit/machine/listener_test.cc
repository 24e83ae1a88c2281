#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/sense.h"
#include "temp_folder.h"

namespace jipsa {
namespace {

class ListenerTest : public ::testing::Test {
 protected:
  void SetUp() override { temp.put("net/tcp", heading); }

  static std::string row(const std::string& local, const char* state, int inode) {
    return "   0: " + local + " 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000  1000        0 " +
           std::to_string(inode) + " 1 0000000000000000 100 0 0 10 0\n";
  }
  void process(Pid pid, Pid parent, const std::string& name, std::vector<int> sockets) const {
    const std::string p = std::to_string(pid);
    temp.put(p + "/stat", p + " (" + name + ") S " + std::to_string(parent) + " 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n");
    std::filesystem::create_directories(temp.path(p + "/fd"));
    std::filesystem::create_symlink("/dev/null", temp.path(p + "/fd/0"));
    int fd = 3;
    for (const int inode : sockets)
      std::filesystem::create_symlink("socket:[" + std::to_string(inode) + "]", temp.path(p + "/fd/" + std::to_string(fd++)));
  }
  PortOwner find(std::uint16_t port) const { return find_listener(port, temp.path()); }

  std::string heading = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
  TempFolder temp;
};

TEST_F(ListenerTest, TheHolderOfTheListeningSocket) {
  temp.put("net/tcp",
           heading + row("0100007F:1FFC", "01", 500) + row("0100007F:1FFC", "0A", 501) + row("0100007F:1FFD", "0A", 502));
  process(40, 1, "client", {500, 502});
  process(41, 1, "comfy", {501});
  EXPECT_EQ(find(8188).pid, 41);
  EXPECT_EQ(find(8188).trouble, "");
  EXPECT_EQ(find(8189).pid, 40);
}

TEST_F(ListenerTest, Version6AndMappedAddresses) {
  temp.put("net/tcp6", heading + row("00000000000000000000000000000000:1FFC", "0A", 7) +
                           row("00000000000000000000000001000000:2CAA", "0A", 8) +
                           row("0000000000000000FFFF00000100007F:1F90", "0A", 9));
  process(41, 1, "a", {7});
  process(42, 1, "b", {8});
  process(43, 1, "c", {9});
  EXPECT_EQ(find(8188).pid, 41);
  EXPECT_EQ(find(11434).pid, 42);
  EXPECT_EQ(find(8080).pid, 43);
}

TEST_F(ListenerTest, LoopbackGoesBeforeAnotherAddressOfThisMachine) {
  temp.put("net/tcp", heading + row("0200A8C0:1FFC", "0A", 5) + row("0100007F:1FFC", "0A", 6) + row("0200A8C0:1F90", "0A", 5));
  process(41, 1, "outside", {5});
  process(42, 1, "inside", {6});
  EXPECT_EQ(find(8188).pid, 42);
  EXPECT_EQ(find(8080).pid, 41);
}

TEST_F(ListenerTest, OfSeveralHoldersTheAncestor) {
  temp.put("net/tcp", heading + row("00000000:1FFC", "0A", 6));
  process(1, 0, "init", {});
  process(30, 50, "worker", {6});
  process(50, 1, "server", {6});
  process(60, 55, "worker's child", {6});
  process(55, 30, "between", {});
  EXPECT_EQ(find(8188).pid, 50);
}

TEST_F(ListenerTest, SystemdKeepsTheSocketOfWhatItStarted) {
  temp.put("net/tcp", heading + row("00000000:1FFC", "0A", 6));
  process(1, 0, "systemd", {6});
  EXPECT_FALSE(find(8188).pid);
  EXPECT_EQ(find(8188).trouble, "port 8188 is held by systemd (pid 1) for a service that has not started");
  process(50, 1, "server", {6});
  EXPECT_EQ(find(8188).pid, 50);
}

TEST_F(ListenerTest, SeveralStrangersAreTrouble) {
  temp.put("net/tcp", heading + row("00000000:1FFC", "0A", 6));
  process(1, 0, "init", {});
  process(50, 1, "a", {6});
  process(51, 1, "b", {6});
  EXPECT_FALSE(find(8188).pid);
  EXPECT_EQ(find(8188).trouble, "port 8188 is held by several processes (50, 51), and none is the others' parent");
}

TEST_F(ListenerTest, AProxyIsNotTheServer) {
  temp.put("net/tcp", heading + row("00000000:1FFC", "0A", 6));
  process(50, 1, "docker-proxy", {6});
  EXPECT_FALSE(find(8188).pid);
  EXPECT_NE(find(8188).trouble.find("docker-proxy (pid 50)"), std::string::npos);
}

TEST_F(ListenerTest, AHolderThatCanNotBeSeenIsTrouble) {
  temp.put("net/tcp", heading + row("00000000:1FFC", "0A", 6));
  process(50, 1, "bystander", {7});
  EXPECT_FALSE(find(8188).pid);
  EXPECT_NE(find(8188).trouble, "");
}

TEST_F(ListenerTest, NobodyListensIsNoTroubleButNoTableIs) {
  process(50, 1, "bystander", {7});
  EXPECT_FALSE(find(8188).pid);
  EXPECT_EQ(find(8188).trouble, "");
  EXPECT_NE(find_listener(8188, temp.path("no")).trouble, "");
}

TEST_F(ListenerTest, BrokenRowsAreSkipped) {
  temp.put("net/tcp",
           heading + "\n\nx\n 1: 2: 3\n 0: 0100007F 0 0A\n 0: 0100007F:ZZZZ 0 0A 0 0 0 0 0 5\n" + row("0100007F:1FFC", "0A", 6));
  process(41, 1, "comfy", {6});
  EXPECT_EQ(find(8188).pid, 41);
}

TEST(ListenerOfThisMachine, AParentAndItsForkedWorker) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const PortOwner owner = find_listener(ntohs(address.sin_port));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(fd);
  EXPECT_EQ(owner.pid, getpid()) << owner.trouble;
}

}  // namespace
}  // namespace jipsa
