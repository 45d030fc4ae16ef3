package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// runtimeName is the file in DATA_DIR that tells other commands where the running program is.
const runtimeName = "runtime.json"

// runtimeFile says how to reach what a running program started. It holds passwords, so only its owner may
// read it. A killed program leaves it behind, so a reader has to try the addresses.
type runtimeFile struct {
	PID        int    `json:"pid"`
	HTTP       string `json:"http,omitempty"`       // address with the port in use
	EventStore string `json:"eventStore,omitempty"` // of the embedded node, without credentials
	// Username, Password and CAFile are set when the program has made them for its node.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	CAFile   string `json:"caFile,omitempty"`
	Database string `json:"database,omitempty"` // of the private cluster, with password
	// Installation identifies the database and namespace of the node's log without revealing them.
	Installation string `json:"installation"`
}

// installation gives a hash of the database and namespace of a configuration: equal for equal logs.
func installation(cfg Config) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", string(cfg.DatabaseURL), cfg.Namespace))
	return hex.EncodeToString(sum[:8])
}

// write replaces the file in one step.
func (r runtimeFile) write(dir string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the files in it are guarded one by one
		return fmt.Errorf("DATA_DIR: %w", err)
	}
	return writePrivate(filepath.Join(dir, runtimeName), string(text)+"\n")
}

// show writes the file until the end of the program. A program whose disk is full works without it: customers need the
// program, not the file.
func (r runtimeFile) show(ctx context.Context, dir string, l *lifecycle) {
	if err := r.write(dir); err != nil {
		l.logger.ErrorContext(ctx, "other commands do not find this program", "error", err)
	}
	l.started("runtime file", stopStorage, func(context.Context) { r.remove(dir) })
}

// remove deletes the file unless another program has written it since.
func (r runtimeFile) remove(dir string) {
	if now, ok := readRuntimeFile(dir); ok && now.PID == r.PID {
		_ = os.Remove(filepath.Join(dir, runtimeName)) // readers try the addresses anyway
	}
}

// readRuntimeFile reads the file; ok is false when it is missing or cannot be read.
func readRuntimeFile(dir string) (r runtimeFile, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, runtimeName))
	if err != nil || json.Unmarshal(text, &r) != nil {
		return runtimeFile{}, false
	}
	return r, true
}

// String is for logs: it leaves out the node's password, and hides the address of the database, which holds one.
func (r runtimeFile) String() string {
	return fmt.Sprintf("pid %d, http %s, event store %s, database %s", r.PID, r.HTTP, r.EventStore, secrets.Hidden)
}
