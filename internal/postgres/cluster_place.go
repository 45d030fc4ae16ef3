package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxSocketDir leaves room for "/.s.PGSQL.65535.lock" in the 107 bytes of a socket's path.
const maxSocketDir = 107 - 20

// place has the directories of a cluster and the user that its programs run as.
type place struct {
	bin     string // directory of postgres and initdb
	data    string // PostgreSQL's own directory
	sockets string
	log     string
	account *account // nil: the user of this program
	// compression is the setting by which the server compresses its write-ahead log; "" when it cannot.
	compression string
	// sync makes the names in a directory last: syncDir, but for tests.
	sync func(dir string) error
}

// account is the operating-system user that the server runs as when this program runs as root: PostgreSQL refuses to
// run as root.
type account struct {
	uid, gid uint32
	bypass   bool // needs CAP_DAC_OVERRIDE to reach a data directory inside a private home
}

// findPlace chooses the directories and the user. Under root, a data directory that the account cannot reach, such as
// one in root's home, is entered with an ambient capability (docs/rules/setup.md#private-cluster).
func findPlace(cfg ClusterConfig) (place, error) {
	p := place{data: filepath.Join(cfg.DataDir, "pgdata"), log: filepath.Join(cfg.DataDir, "postgres.log"),
		sync: syncDir}
	if os.Geteuid() == 0 {
		acc, err := serverAccount()
		if err != nil {
			return place{}, err
		}
		p.account = acc
		if !reachable(cfg.DataDir) {
			if !mayBypass() {
				return place{}, fmt.Errorf("PostgreSQL does not run as root, and the user postgres cannot reach %s: "+
					"choose a data directory outside a private home, such as /var/lib/lastmile", cfg.DataDir)
			}
			acc.bypass = true
		}
	}
	var err error
	if p.bin, err = findBinaries(cfg.BinDir, p.data); err != nil {
		return place{}, err
	}
	p.sockets, err = p.makeSocketDir(cfg.DataDir)
	return p, err
}

// serverAccount gives the user postgres, which the distribution's package makes; without it the user nobody.
func serverAccount() (*account, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errU := strconv.ParseUint(u.Uid, 10, 32)
		gid, errG := strconv.ParseUint(u.Gid, 10, 32)
		if errU == nil && errG == nil {
			return &account{uid: uint32(uid), gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root and there is no user postgres: set DATABASE_URL or " +
		"start as another user")
}

// reachable reports whether every user may enter dir and all directories above it.
func reachable(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if parent := filepath.Dir(dir); parent == dir {
			return true
		}
		dir = filepath.Dir(dir)
	}
}

// makeSocketDir makes the directory of the server's socket: beside the data when the path is short enough, else a
// private one in the temporary directory.
func (p place) makeSocketDir(beside string) (string, error) {
	dir := filepath.Join(beside, "run")
	if len(dir) > maxSocketDir {
		dir = filepath.Join(os.TempDir(), "lastmile-"+shortHash(beside))
	}
	if len(dir) > maxSocketDir {
		dir = filepath.Join("/tmp", "lastmile-"+shortHash(beside))
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make socket directory: %w", err)
	}
	// With a directory of this name that another user made, or a link, that user could pose as the server.
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("make socket directory: %w", err)
	}
	owner := info.Sys().(*syscall.Stat_t).Uid //nolint:forcetypeassert // always so on Unix
	if !info.IsDir() || (int(owner) != os.Geteuid() && (p.account == nil || owner != p.account.uid)) {
		return "", fmt.Errorf("socket directory %s belongs to somebody else", dir)
	}
	return dir, p.give(dir)
}

// give makes the account the owner of a path. Without an account it does nothing.
func (p place) give(path string) error {
	if p.account == nil {
		return nil
	}
	if err := os.Chown(path, int(p.account.uid), int(p.account.gid)); err != nil {
		return fmt.Errorf("give %s to the database user: %w", path, err)
	}
	return nil
}

// findBinaries looks for a directory with both postgres and initdb. Data of one major version needs the programs of
// that version, so these come first.
func findBinaries(configured, data string) (string, error) {
	candidates := []string{configured}
	if configured == "" {
		version, _ := os.ReadFile(filepath.Join(data, "PG_VERSION"))
		if v := strings.TrimSpace(string(version)); v != "" {
			candidates = append(candidates, filepath.Join("/usr/lib/postgresql", v, "bin"))
		}
		if path, err := exec.LookPath("postgres"); err == nil {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				candidates = append(candidates, filepath.Dir(real))
			}
		}
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
		for i := len(found) - 1; i >= 0; i-- {
			candidates = append(candidates, found[i])
		}
		candidates = append(candidates, "/usr/local/pgsql/bin")
	}
	for _, dir := range candidates {
		if dir != "" && isFile(filepath.Join(dir, "postgres")) && isFile(filepath.Join(dir, "initdb")) {
			return dir, nil
		}
	}
	return "", errors.New("PostgreSQL is not installed: run `apt-get install postgresql` (or `make install-deps`), " +
		"or set DATABASE_URL")
}

// isFile reports whether path is a regular file, or a link to one.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// shortHash gives a short name in hexadecimal digits for a long path.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// made reports whether the files of the cluster exist.
func (p place) made() bool { return isFile(filepath.Join(p.data, "PG_VERSION")) }

// initialise runs initdb unless the cluster exists. The cluster is made beside its place and moved there when it is
// complete, so that after a kill in between the next start begins again.
func (p place) initialise(ctx context.Context, state clusterState, scratch bool) error {
	if p.made() {
		return nil
	}
	fresh := p.data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	if err := p.give(fresh); err != nil {
		return err
	}
	password := filepath.Join(p.sockets, "pw")
	if err := os.WriteFile(password, []byte(state.AdminPassword+"\n"), 0o600); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	defer func() { _ = os.Remove(password) }()
	if err := p.give(password); err != nil {
		return err
	}
	args := []string{
		"--pgdata=" + fresh, "--username=" + clusterAdmin, "--pwfile=" + password,
		"--encoding=UTF8", "--lc-collate=C", "--lc-ctype=C.UTF-8", "--lc-messages=C",
	}
	if scratch {
		args = append(args, "--no-sync", "--auth=md5")
	} else {
		args = append(args, "--data-checksums", "--auth=scram-sha-256")
	}
	runtime.LockOSThread() // the parent-death signal belongs to the thread, not to the process
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, "initdb"), args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", serverEnv(), p.attributes()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make cluster: %w: %s", err, strings.TrimSpace(string(out)))
	}
	if err := os.Rename(fresh, p.data); err != nil {
		return fmt.Errorf("make cluster: %w", err)
	}
	if scratch {
		return nil
	}
	return p.sync(filepath.Dir(p.data))
}

// syncDir makes the names in a directory last: after a power loss, a renamed file has its new name only if the
// directory was written out.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("write out %s: %w", dir, err)
	}
	defer func() { _ = f.Close() }()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write out %s: %w", dir, err)
	}
	return nil
}

// stopOrphan ends a server that outlived the program that started it. The caller holds the directory's lock, so no
// other program uses that server.
func (p place) stopOrphan(logger *slog.Logger) error {
	pidFile := filepath.Join(p.data, "postmaster.pid")
	text, err := os.ReadFile(pidFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for a running database server: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(first))
	if pid <= 1 || !p.isOurServer(pid) {
		// Another program may have this process id now, and PostgreSQL would not start beside it.
		if err := os.Remove(pidFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove stale postmaster.pid: %w", err)
		}
		return nil
	}
	logger.Warn("stopping a database server left behind", "pid", pid)
	for _, step := range stopSteps {
		_ = syscall.Kill(pid, step.signal)
		for range step.limit / stopPoll {
			if !p.isOurServer(pid) {
				return nil
			}
			time.Sleep(stopPoll)
		}
	}
	return fmt.Errorf("database server %d of another run does not stop", pid)
}

// stopPoll is the time between two looks at a server that is to stop.
const stopPoll = 20 * time.Millisecond

// isOurServer reports whether a process is the server of this data directory.
func (p place) isOurServer(pid int) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return false
	}
	for _, arg := range strings.Split(string(line), "\x00") {
		if arg == p.data {
			return true
		}
	}
	return false
}
