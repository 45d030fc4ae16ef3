package postgres

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// clusterState is what has to be remembered between starts; it lies in cluster.json, readable by us alone.
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

// save writes the state in one step.
func (s clusterState) save(dir string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write cluster state: %w", err)
	}
	path := filepath.Join(dir, "cluster.json")
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return fmt.Errorf("write cluster state: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write cluster state: %w", err)
	}
	return nil
}

// withFreePort keeps the remembered port while it is free, else finds and remembers another one.
func (s clusterState) withFreePort(dir string) (clusterState, error) {
	if s.Port != 0 && portIsFree(s.Port) {
		return s, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return s, fmt.Errorf("find a free port: %w", err)
	}
	s.Port = l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // a TCP listener has a TCP address
	if err := l.Close(); err != nil {
		return s, fmt.Errorf("find a free port: %w", err)
	}
	return s, s.save(dir)
}

// portIsFree tries to listen, as PostgreSQL will.
func portIsFree(port int) bool {
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// randomHex is 128 random bits.
func randomHex() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// lockDir makes this program the only one that runs the cluster of dir. The kernel frees the lock when the program
// ends, however it ends.
func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
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
