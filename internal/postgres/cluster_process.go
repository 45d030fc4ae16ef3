package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// maxLog is the size of the server's log in bytes from which a start renames it and begins a new one.
const maxLog = 8 << 20

// stopSteps has the signals of an ever harder shutdown, each with the time that it gets: fast, immediate, kill.
var stopSteps = []struct {
	signal syscall.Signal
	limit  time.Duration
}{
	{syscall.SIGINT, fastLimit},
	{syscall.SIGQUIT, quitLimit},
	{syscall.SIGKILL, quitLimit},
}

// process is a running server.
type process struct {
	pid  int
	done chan struct{} // closed when it has ended
	// killed reports that a signal ended it that it cannot handle. Valid once done is closed.
	killed bool
}

// serverEnv gives the environment of PostgreSQL's programs. Variables of this program, such as PGDATA, could redirect
// them. LD_BIND_NOW has the server find the functions of its libraries once; otherwise the process of each connection
// finds those that it calls, which takes a tenth of the time of a connection.
func serverEnv() []string {
	return []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "LD_BIND_NOW=1"}
}

// startProcess runs the server as a child. The goroutine keeps its thread for the child's whole life: the kernel sends
// the parent-death signal when the thread that started the child ends.
func startProcess(argv []string, p place) (*process, error) {
	log, err := openLog(p.log)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", serverEnv(), p.attributes()
	cmd.Stdout, cmd.Stderr = log, log
	proc := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			proc.pid = cmd.Process.Pid
		}
		_ = log.Close() // the child has its own
		started <- err
		if err == nil {
			_ = cmd.Wait()
			status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
			proc.killed = ok && status.Signaled()
		}
		close(proc.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return proc, nil
}

// stop ends the server: fast, then immediate, then by force. The end of ctx skips the waiting for a fast shutdown.
func (p *process) stop(ctx context.Context) {
	for _, step := range stopSteps {
		select {
		case <-p.done:
			return
		default:
		}
		_ = syscall.Kill(p.pid, step.signal)
		timer := time.NewTimer(step.limit)
		stepDone := ctx.Done()
		if step.signal != syscall.SIGINT {
			stepDone = nil
		}
		select {
		case <-p.done:
		case <-timer.C:
		case <-stepDone:
		}
		timer.Stop()
	}
}

// openLog opens the server's log to append, setting a large one aside.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".old")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open PostgreSQL's log: %w", err)
	}
	return f, nil
}

// logTail gives the last five lines of the server's log in one line, for an error message.
func (p place) logTail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return "no log"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}
