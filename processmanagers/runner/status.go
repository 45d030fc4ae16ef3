package processrunner

// State says how a process is doing; shown on /readyz and by the command line.
type State string

// The states; only a running process has outputs.
const (
	StateWaiting State = "waiting" // another program drives it
	StateHistory State = "history" // takes events from before its registration; outputs are suppressed
	StateRunning State = "running"
	StateStopped State = "stopped" // has met an input that it cannot take; see Error
)

// Status is one process's state at an instant.
type Status struct {
	Name     string
	State    State
	Position uint64 // every event up to here was taken
	Head     uint64
	Retrying int // instances whose command is tried again
	Error    string
}

// Status returns the state of every registered process, in the order of registration. It asks no database.
func (r *Runner) Status() []Status {
	head := r.cfg.Feed.Head()
	all := make([]Status, 0, len(r.processes))
	for _, p := range r.processes {
		p.mu.Lock()
		s := Status{Name: p.name, State: p.state, Error: p.fault}
		p.mu.Unlock()
		s.Retrying = int(p.retrying.Load())
		s.Position = p.track.low()
		s.Head = max(head, s.Position)
		all = append(all, s)
	}
	return all
}

// show publishes the state; fault is empty unless the process has stopped.
func (p *process) show(state State, fault string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.fault = state, fault
}
