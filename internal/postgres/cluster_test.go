package postgres_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// orphanEnv makes this test program start a cluster in the directory it names and wait to be killed.
const orphanEnv = "LASTMILE_TEST_ORPHAN_DIR"

// TestMain runs the tests. With orphanEnv set it starts a cluster instead and waits for the kill.
func TestMain(m *testing.M) {
	dir := os.Getenv(orphanEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	c, err := postgres.StartCluster(context.Background(), postgres.ClusterConfig{DataDir: dir, MaxConnections: 20})
	if err != nil {
		os.Stdout.WriteString("error: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("started " + c.URL() + "\n")
	select {}
}

// clusterDir makes a directory that other users may not enter, like a private home.
func clusterDir(t *testing.T) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(home, "data")
}

// startCluster starts a cluster that is stopped at the end of the test. It does not write through: none of these tests
// takes the power away.
func startCluster(t *testing.T, dir string) *postgres.Cluster {
	t.Helper()
	c, err := postgres.StartCluster(t.Context(), postgres.ClusterConfig{
		DataDir: dir, MaxConnections: 20, Scratch: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// query runs one statement on a connection of its own and gives its first value as text.
func query(t *testing.T, url, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var text string
	if err := conn.QueryRow(t.Context(), sql).Scan(&text); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatal(err)
	}
	return text
}

func TestCluster_SecondStartReusesDataAndPort(t *testing.T) {
	t.Parallel()
	dir := clusterDir(t)
	c := startCluster(t, dir)
	url := c.URL()
	query(t, url, "create table kept as select 'here' as n")
	before := time.Now() //nolint:forbidigo // measures the stop
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(before); took > 5*time.Second { //nolint:forbidigo // as above
		t.Errorf("stop took %s", took)
	}
	c = startCluster(t, dir)
	if c.URL() != url {
		t.Errorf("address changed from %s to %s", url, c.URL())
	}
	if got := query(t, c.URL(), "select n from kept"); got != "here" {
		t.Errorf("data lost: %q", got)
	}
}

func TestCluster_ListensOnLoopbackWithAPassword(t *testing.T) {
	t.Parallel()
	c := startCluster(t, clusterDir(t))
	if got := query(t, c.URL(), "select current_setting('listen_addresses')"); got != "127.0.0.1" {
		t.Errorf("listens on %q", got)
	}
	if got := query(t, c.URL(), "select rolsuper::text from pg_roles where rolname = current_user"); got != "false" {
		t.Errorf("the application's login is a superuser: %q", got)
	}
	cfg, err := pgx.ParseConfig(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Password = "wrong"
	if conn, err := pgx.ConnectConfig(t.Context(), cfg); err == nil {
		_ = conn.Close(t.Context())
		t.Error("a wrong password was accepted")
	}
}

func TestCluster_SecondProgramIsRefused(t *testing.T) {
	t.Parallel()
	dir := clusterDir(t)
	startCluster(t, dir)
	_, err := postgres.StartCluster(t.Context(), postgres.ClusterConfig{DataDir: dir})
	if err == nil || !strings.Contains(err.Error(), "in use by process") {
		t.Errorf("have: %v", err)
	}
}

func TestCluster_RecoversFromAKilledServer(t *testing.T) {
	t.Parallel()
	c := startCluster(t, clusterDir(t))
	url := c.URL()
	query(t, url, "create table kept as select 'here' as n")
	if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if _, err := pgx.Connect(t.Context(), url); !postgres.Away(err) {
		t.Errorf("a stopped server is not told apart: %v", err)
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.URL() != url {
		t.Errorf("address changed from %s to %s", url, c.URL())
	}
	if got := query(t, url, "select n from kept"); got != "here" {
		t.Errorf("data lost: %q", got)
	}
}

func TestCluster_PoolsOutliveARestart(t *testing.T) {
	t.Parallel()
	c := startCluster(t, clusterDir(t))
	db, err := postgres.Open(t.Context(), postgres.Config{URL: c.SocketURL(), Namespace: "x", MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Each old connection may fail once; every failure must say that a repetition may help.
	for range 3 {
		if err = db.Owner.Ping(t.Context()); err == nil {
			return
		}
		if !postgres.Away(err) {
			t.Errorf("a lost connection is not told apart: %v", err)
		}
	}
	t.Error(err)
}

func TestCluster_ARestartKeepsTheAddressThatPoolsHave(t *testing.T) {
	t.Parallel()
	c := startCluster(t, clusterDir(t))
	before, u := c.URL(), c.URL()
	if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	host, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", host.Host)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := c.Restart(short); err == nil || !strings.Contains(err.Error(), "wait for port") {
		t.Errorf("restart while somebody has the port: %v", err)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.URL() != before {
		t.Errorf("the address became %s, it was %s", c.URL(), before)
	}
	query(t, before, "select 'x'")
}

func TestCluster_ServerOfAKilledProgramIsReplaced(t *testing.T) {
	t.Parallel()
	dir := clusterDir(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), orphanEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 1024)
	n, _ := out.Read(line)
	url, ok := strings.CutPrefix(strings.TrimSpace(string(line[:n])), "started ")
	if !ok {
		t.Fatalf("the other program: %s", line[:n])
	}
	query(t, url, "create table kept as select 'here' as n")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	c := startCluster(t, dir)
	if got := query(t, c.URL(), "select n from kept"); got != "here" {
		t.Errorf("data lost: %q", got)
	}
}

func TestCluster_StalePidFileIsNoObstacle(t *testing.T) {
	t.Parallel()
	dir := clusterDir(t)
	c := startCluster(t, dir)
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The process id of a live program that is not a database server: this one.
	file := filepath.Join(dir, "pgdata", "postmaster.pid")
	if err := os.WriteFile(file, []byte(itoa(os.Getpid())+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	startCluster(t, dir)
}

func TestCluster_LongDataPathGetsAShortSocket(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(clusterDir(t), strings.Repeat("long/", 25), "end")
	c := startCluster(t, dir)
	query(t, c.SocketURL(), "select 'x'")
	pidFile, err := os.ReadFile(filepath.Join(dir, "pgdata", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	sockets := strings.Split(string(pidFile), "\n")[4] // the fifth line is the socket directory
	if len(sockets) > 87 {
		t.Errorf("socket directory has %d bytes: %s", len(sockets), sockets)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(sockets); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("socket directory left behind: %v", err)
	}
}

func TestCluster_TakenPortIsReplaced(t *testing.T) {
	t.Parallel()
	dir := clusterDir(t)
	first := startCluster(t, dir)
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	taken := listenOn(t, first.URL())
	second := startCluster(t, dir)
	if second.URL() == first.URL() {
		t.Errorf("both at %s", taken)
	}
	query(t, second.URL(), "select 'x'")
}
