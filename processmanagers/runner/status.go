package processrunner

// State is how a process is doing.
type State string

// The states.
const (
	StateWaiting State = "waiting" // another program drives it
	StateHistory State = "history" // reads what happened before it was registered; outputs suppressed
	StateRunning State = "running"
	StateStopped State = "stopped" // met an input that it cannot take; see Error
)

// Status is one process's progress.
type Status struct {
	Name     string
	State    State
	Position uint64 // every event up to here is taken
	Head     uint64
	Retrying int // instances whose command is being tried again
	Error    string
}

// Status tells about every registered process, in the order of registration.
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

// show sets the state.
func (p *process) show(state State, fault string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.fault = state, fault
}
