package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// keeper outlives this program, however it ends: it waits until our end of the pipe is closed, then stops the server
// and removes its directory. $1 is the server's process, $2 the directory.
const keeper = `cat >/dev/null
kill -QUIT "$1" 2>/dev/null
n=0
while kill -0 "$1" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.05; n=$((n+1)); done
kill -KILL "$1" 2>/dev/null
rm -rf -- "$2"`

// ScratchConfig chooses between a fast and a durable server; the zero value is fast.
type ScratchConfig struct {
	Durable bool // with fsync, for benchmarks; without fsync the server is several times faster
}

// Scratch is a throw-away PostgreSQL server, with its data in a temporary directory.
type Scratch struct {
	cluster *postgres.Cluster
	pipe    *os.File // our end; the kernel closes it when this program ends
	keeper  *exec.Cmd
}

// Where a fast server has its data when it fits: each test makes and drops a thousand files, which costs a file system
// on a disk as much as all queries together.
const (
	memoryDir  = "/dev/shm"
	memoryRoom = 6 << 30
)

// inMemory is a directory in memory with room for a server of tests; "" when there is none.
func inMemory() string {
	var fs unix.Statfs_t
	if unix.Statfs(memoryDir, &fs) != nil || fs.Type != unix.TMPFS_MAGIC ||
		fs.Bavail*uint64(fs.Bsize) < memoryRoom { //nolint:gosec // a block has a size above zero
		return ""
	}
	return memoryDir
}

// Dir gives a directory for what a program under test keeps, a database server of its own above all; it is removed at
// the end of the test. It is in memory if there is room: killing programs and servers loses nothing there either, and
// a server that writes through costs a tenth less. What a test program that was killed itself has left is removed by a
// later one.
func Dir(t T) string {
	t.Helper()
	parent := inMemory()
	left, _ := filepath.Glob(filepath.Join(memoryDir, dirName+"*"))
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
	dir, err := os.MkdirTemp(parent, dirName)
	if err == nil {
		err = os.Chmod(dir, 0o755) //nolint:gosec // the server's user must get through; its data is 0700
	}
	if err != nil {
		t.Fatalf("make a directory for a test: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the directory of a test: %v", err)
		}
	})
	return dir
}

// dirName begins the names of what Dir makes.
const dirName = "lastmile-test-"

// StartScratch starts a server in a temporary directory, which is in memory if the server is fast and there is room.
// Without Stop it lives until this program ends.
func StartScratch(ctx context.Context, cfg ScratchConfig) (*Scratch, error) {
	parent := ""
	if !cfg.Durable {
		parent = inMemory()
	}
	dir, err := os.MkdirTemp(parent, "lastmile-pg-")
	if err != nil {
		return nil, fmt.Errorf("start scratch database: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the server's user must get through; its data is 0700
		return nil, fmt.Errorf("start scratch database: %w", err)
	}
	cluster, err := postgres.StartCluster(ctx, postgres.ClusterConfig{
		DataDir: filepath.Join(dir, "pg"), Scratch: !cfg.Durable, CreatesDatabases: true,
		MaxConnections: 400,
	})
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("start scratch database: %w", err)
	}
	s := &Scratch{cluster: cluster}
	if err := s.startKeeper(dir); err != nil {
		_ = cluster.Stop(ctx)
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("start scratch database: %w", err)
	}
	return s, nil
}

// startKeeper starts the shell that cleans up. It has none of our outputs: `go test` waits for their holders.
func (s *Scratch) startKeeper(dir string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	s.pipe = w
	s.keeper = exec.Command("/bin/sh", "-c", keeper, "keeper", strconv.Itoa(s.cluster.PID()), dir)
	s.keeper.Dir, s.keeper.Stdin = "/", r
	s.keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return s.keeper.Start()
}

// URL gives the server's address, with the password: its socket, by which a program reaches its private server, too.
func (s *Scratch) URL() string { return s.cluster.SocketURL() }

// Stop stops the server and waits until its directory is gone.
func (s *Scratch) Stop() {
	_ = s.pipe.Close()
	<-s.cluster.Done()
	_ = s.keeper.Wait()
}
