package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
)

// clusterState lies in cluster.json between starts, readable by the user of this program only.
type clusterState struct {
	Port          int    `json:"port"`
	Password      string `json:"password"`      // of the application's login
	AdminPassword string `json:"adminPassword"` // of the superuser
}

// loadClusterState reads the state or makes a new one. It is on disk before a cluster with its passwords exists.
func loadClusterState(dir string) (clusterState, error) {
	text, err := os.ReadFile(filepath.Join(dir, "cluster.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s := clusterState{Password: randomHex(), AdminPassword: randomHex()}
		return s, s.save(dir)
	case err != nil:
		return clusterState{}, fmt.Errorf("read cluster state: %w", err)
	}
	var s clusterState
	if err := json.Unmarshal(text, &s); err != nil {
		return clusterState{}, fmt.Errorf("read cluster state: %w", err)
	}
	return s, nil
}

// save writes the state in one step, which lasts: without its passwords the cluster cannot be entered.
func (s clusterState) save(dir string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write cluster state: %w", err)
	}
	path := filepath.Join(dir, "cluster.json")
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write cluster state: %w", err)
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write cluster state: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write cluster state: %w", err)
	}
	return syncDir(dir)
}

// Ports of private clusters lie below those that systems give to outgoing connections (Linux: from 32768): while the
// server is down, no outgoing connection can take its port.
const (
	lowestPort = 20_000
	ports      = 12_000
	portTries  = 100
)

// withFreePort keeps the remembered port if it is free. Otherwise it finds another one and saves it.
func (s clusterState) withFreePort(_ context.Context, dir string) (clusterState, error) {
	if s.Port != 0 && portIsFree(s.Port) {
		return s, nil
	}
	for range portTries {
		n, err := rand.Int(rand.Reader, big.NewInt(ports))
		if err != nil {
			return s, fmt.Errorf("find a free port: %w", err)
		}
		if s.Port = lowestPort + int(n.Int64()); portIsFree(s.Port) {
			return s, s.save(dir)
		}
	}
	return s, fmt.Errorf("find a free port: none of %d tried from %d on is free", portTries, lowestPort)
}

// withSamePort waits until the remembered port is free again.
func (s clusterState) withSamePort(ctx context.Context, _ string) (clusterState, error) {
	for !portIsFree(s.Port) {
		if !loop.Sleep(ctx, portPause) {
			return s, fmt.Errorf("wait for port %d, which another program uses: %w", s.Port, ctx.Err())
		}
	}
	return s, nil
}

// portPause is the time between two looks at a port.
const portPause = 50 * time.Millisecond

// portIsFree reports whether this program can listen on the port, as PostgreSQL will.
func portIsFree(port int) bool {
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// randomHex gives 128 random bits as 32 hexadecimal digits.
func randomHex() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// How often and how long the lock of a data directory is tried for. A process that was just forked holds its parent's
// files for a moment, and one that was just killed takes a moment to end.
const (
	lockTries = 20
	lockPause = 50 * time.Millisecond
)

// lockDir makes this program the only one that runs the cluster of dir. The kernel frees the lock when the program
// ends, however it ends.
func lockDir(ctx context.Context, dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	for try := 1; err != nil && try < lockTries && ctx.Err() == nil; try++ {
		loop.Sleep(ctx, lockPause)
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		holder, _ := os.ReadFile(f.Name())
		_ = f.Close()
		return nil, fmt.Errorf("data directory %s is in use by process %s", dir, strings.TrimSpace(string(holder)))
	}
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock data directory: %w", err)
		}
	}
	return f, nil
}
