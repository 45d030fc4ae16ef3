package breaker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Phase decides how a breaker treats the next call.
type Phase string

// The phases, spelled as the API shows them.
const (
	Closed   Phase = "closed"    // calls pass
	Open     Phase = "open"      // calls are refused until RetryAt
	HalfOpen Phase = "half_open" // the cool-down is over: one probe may pass, or is on its way
)

// State describes one target for operators.
type State struct {
	Target   string
	Kind     string
	State    Phase
	Failures int       // in a row; a success sets it to 0
	OpenedAt time.Time // of the present outage; zero when closed
	RetryAt  time.Time // when the next probe may go; zero when closed
	// LastError is the newest counted failure, kept after recovery. For operators, not for customers.
	LastError string
	// AnsweredAt is the newest success since this program has known the target; zero = none. Failures leave it.
	AnsweredAt time.Time
}

// Config sets the limits; the zero value of each field takes the number of docs/rules/engine.md#breaker.
type Config struct {
	Threshold   int           // consecutive failures that open; 5
	CoolDown    time.Duration // first cool-down; 30 s
	MaxCoolDown time.Duration // the doubling stops here; 10 min
	Clock       clock.Clock   // the machine's when nil
	// Codes gives the failure code of an open breaker by kind; "<kind>_unavailable" without an entry.
	Codes map[string]string
	// OnChange is called with every change of phase, in their order, outside the set's lock. It may call States; a call
	// of Do from within it deadlocks.
	OnChange func(State)
}

// Set holds one breaker for each kind and target, made at its first call. Safe for concurrent use.
type Set struct {
	cfg  Config
	pace clock.Clock // of the clock: nobody shortens or lengthens a cool-down by setting the machine's

	mu      sync.Mutex
	targets map[key]*target
	changes []State // not announced yet, oldest first

	announcing sync.Mutex // held while OnChange runs, so that announcements keep their order
}

// key identifies a target: names are unique within a kind.
type key struct{ kind, name string }

// target is the state machine of one outside system, guarded by the set's lock.
type target struct {
	phase     Phase // HalfOpen only while a probe is on its way
	failures  int
	openedAt  time.Time // by the pace, as retryAt is
	retryAt   time.Time
	coolDown  time.Duration
	lastError string
	answered  time.Time
	// era grows with every change of phase: the result of a call that began in an earlier era is ignored.
	era uint64
	// probe is closed when the probe that is on its way has ended; insisted says that a person asked for it.
	probe    chan struct{}
	insisted bool
}

// maxErrorText bounds the stored text of an error, in bytes.
const maxErrorText = 300

// probeWait is the RetryAfter of a call that is refused while another caller's probe is under way.
const probeWait = 5 * time.Second

// New makes a set without targets; zero fields of cfg get their defaults.
func New(cfg Config) *Set {
	cfg.Threshold = cmp.Or(cfg.Threshold, 5)
	cfg.CoolDown = cmp.Or(cfg.CoolDown, 30*time.Second)
	cfg.MaxCoolDown = cmp.Or(cfg.MaxCoolDown, 10*time.Minute)
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	return &Set{cfg: cfg, pace: clock.Pace(cfg.Clock), targets: map[key]*target{}}
}

// answered marks an error that proves that the system works.
type answered struct{ error }

// Unwrap lets errors.Is and errors.As find the marked error.
func (a answered) Unwrap() error { return a.error }

// Answered marks an error as the system's own answer: a 4xx, or a body in its error shape. Do returns it as it is and
// counts the call as a success. A nil error stays nil.
func Answered(err error) error {
	if err == nil {
		return nil
	}
	return answered{err}
}

// unsent marks an error of a call that ended before anything was sent.
type unsent struct{ error }

// Unwrap lets errors.Is and errors.As find the marked error.
func (u unsent) Unwrap() error { return u.error }

// Unsent marks an error of a call that ended in the caller's own queue, before anything was sent: it says nothing about
// the target. Do returns it as it is and counts neither a success nor a failure. A nil error stays nil.
func Unsent(err error) error {
	if err == nil {
		return nil
	}
	return unsent{err}
}

// Do runs call unless the target's breaker refuses. An error of call counts as a failure of the target unless it is
// marked with Answered or Unsent, or the caller itself cancelled ctx (a deadline that passes during the call counts: it
// is a time-out). An open breaker gives failure.Unavailable with RetryAfter and does not run call. A ctx that has ended
// already gives its error and counts as nothing.
func (s *Set) Do(ctx context.Context, kind, name string, call func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k := key{kind, name}
	era, err := s.enter(ctx, k)
	s.announce()
	if err != nil {
		return err
	}
	settled := false
	defer func() {
		if !settled { // the call panicked, or the text of its error did
			s.leave(k, era, errors.New("the call panicked"))
			s.announce()
		}
	}()
	err = call(ctx)
	var alive answered
	var waited unsent
	switch {
	case err == nil, errors.As(err, &alive):
		s.leave(k, era, nil)
	case errors.As(err, &waited), errors.Is(ctx.Err(), context.Canceled):
		s.abandon(k, era)
	default:
		s.leave(k, era, err)
	}
	settled = true
	s.announce()
	return err
}

// Ready returns the error that Do would return now, without using up the probe: for a caller that wants to refuse work
// before anything is recorded (docs/rules/payments.md#open-breaker).
func (s *Set) Ready(kind, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{kind, name}
	t, ok := s.targets[k]
	if !ok || !s.refuses(t) {
		return nil
	}
	return s.refusal(k, t)
}

// Alive takes a proof from outside of Do that a known target works, such as an answer that came too late for its call:
// the failures are forgotten, and an open breaker closes.
func (s *Set) Alive(kind, name string) {
	s.mu.Lock()
	k := key{kind, name}
	if t, ok := s.targets[k]; ok {
		t.failures, t.answered = 0, s.cfg.Clock.Now()
		if t.phase != Closed {
			t.coolDown, t.openedAt, t.retryAt = s.cfg.CoolDown, time.Time{}, time.Time{}
			s.turn(k, t, Closed)
		}
	}
	s.mu.Unlock()
	s.announce()
}

// Know makes a target that was not called yet, so that States and the metrics show it from the start.
func (s *Set) Know(kind, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.find(key{kind, name})
}

// find gives a target, and makes it when it is new. The set's lock is held.
func (s *Set) find(k key) *target {
	t, ok := s.targets[k]
	if !ok {
		t = &target{phase: Closed, coolDown: s.cfg.CoolDown}
		s.targets[k] = t
	}
	return t
}

// States gives all targets that are known or were ever called, and not forgotten, sorted by kind and name.
func (s *Set) States() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]State, 0, len(s.targets))
	for k, t := range s.targets {
		states = append(states, s.show(k, t))
	}
	slices.SortFunc(states, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Target, b.Target))
	})
	return states
}

// Forget drops a target that no longer exists, such as a deleted router. The result of a call under way is ignored.
func (s *Set) Forget(kind, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key{kind, name}
	if t, ok := s.targets[k]; ok {
		t.endProbe()
		delete(s.targets, k)
	}
}

// enter admits a call and gives the era in which it began, or the refusal. A call under Insist waits for the probe that
// is on its way first.
func (s *Set) enter(ctx context.Context, k key) (uint64, error) {
	insisted := insists(ctx)
	for {
		s.mu.Lock()
		t := s.find(k)
		if !insisted || t.phase != HalfOpen {
			era, err := s.admit(k, t, insisted)
			s.mu.Unlock()
			return era, err
		}
		probe := t.probe
		s.mu.Unlock()
		select {
		case <-probe:
		case <-ctx.Done():
		}
		if ctx.Err() != nil { // also when the probe has ended just now: nothing can be asked any more
			s.mu.Lock()
			defer s.mu.Unlock()
			return 0, s.refusal(k, s.find(k))
		}
	}
}

// admit lets a call pass, as the probe when the breaker is open, or refuses it. The set's lock is held.
func (s *Set) admit(k key, t *target, insisted bool) (uint64, error) {
	if s.refuses(t) && (!insisted || t.phase != Open) {
		return 0, s.refusal(k, t)
	}
	if t.phase == Open {
		t.probe, t.insisted = make(chan struct{}), insisted
		s.turn(k, t, HalfOpen)
	}
	return t.era, nil
}

// refuses reports whether a call must not pass now: during a cool-down, or while a probe is under way.
func (s *Set) refuses(t *target) bool {
	return t.phase == HalfOpen || t.phase == Open && s.pace.Now().Before(t.retryAt)
}

// refusal makes the error of a refused call. Its message is for customers; the last error of the target is the cause.
func (s *Set) refusal(k key, t *target) error {
	wait := probeWait
	if t.phase == Open {
		wait = max(t.retryAt.Sub(s.pace.Now()), time.Second)
	}
	code, ok := s.cfg.Codes[k.kind]
	if !ok {
		code = k.kind + "_unavailable"
	}
	return failure.NewUnavailable(code, "The system does not answer at the moment. Try again later.", wait,
		&OpenError{Kind: k.kind, Target: k.name, Last: t.lastError})
}

// leave records the result of a call; a nil err is a success.
func (s *Set) leave(k key, era uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.targets[k]
	if !ok || t.era != era {
		return
	}
	var text string
	if err != nil {
		text = err.Error() // before anything changes: it may panic
	}
	if err == nil {
		t.failures, t.answered = 0, s.cfg.Clock.Now()
		if t.phase == HalfOpen {
			t.coolDown, t.openedAt, t.retryAt = s.cfg.CoolDown, time.Time{}, time.Time{}
			s.turn(k, t, Closed)
		}
		return
	}
	t.failures++
	t.lastError = strings.ToValidUTF8(text[:min(len(text), maxErrorText)], "")
	switch {
	case t.phase == HalfOpen && t.insisted:
		s.turn(k, t, Open) // who asks in between neither lengthens the cool-down nor begins it anew
		return
	case t.phase == HalfOpen:
		t.coolDown = min(2*t.coolDown, s.cfg.MaxCoolDown)
	case t.failures >= s.cfg.Threshold:
		t.openedAt = s.pace.Now()
	default:
		return
	}
	t.retryAt = s.pace.Now().Add(t.coolDown)
	s.turn(k, t, Open)
}

// abandon ends a probe that was cancelled or never sent, without a verdict: the next call is the probe.
func (s *Set) abandon(k key, era uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.targets[k]
	switch {
	case !ok || t.era != era || t.phase != HalfOpen:
	case t.insisted:
		s.turn(k, t, Open)
	default:
		t.endProbe()
		t.phase = Open // its cool-down is over, so the next call is the probe: nothing to announce
		t.era++
	}
}

// turn changes the phase, begins a new era and queues the announcement. The set's lock is held.
func (s *Set) turn(k key, t *target, to Phase) {
	if to != HalfOpen {
		t.endProbe()
	}
	t.phase = to
	t.era++
	if s.cfg.OnChange != nil {
		s.changes = append(s.changes, s.show(k, t))
	}
}

// show gives the state for operators. An open breaker whose cool-down is over shows as half open: the next call is a
// probe.
func (s *Set) show(k key, t *target) State {
	phase := t.phase
	if phase == Open && !s.refuses(t) {
		phase = HalfOpen
	}
	return State{Target: k.name, Kind: k.kind, State: phase, Failures: t.failures,
		OpenedAt: s.shown(t.openedAt), RetryAt: s.shown(t.retryAt), LastError: t.lastError, AnsweredAt: t.answered}
}

// shown is an instant of the pace by the clock: when the clock was set meanwhile, it is as far from now as it truly is.
func (s *Set) shown(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return s.cfg.Clock.Now().Add(at.Sub(s.pace.Now())).Round(time.Millisecond)
}

// announce calls OnChange for the queued changes, in their order.
func (s *Set) announce() {
	if s.cfg.OnChange == nil {
		return
	}
	s.announcing.Lock()
	defer s.announcing.Unlock()
	s.mu.Lock()
	changes := s.changes
	s.changes = nil
	s.mu.Unlock()
	for _, c := range changes {
		s.cfg.OnChange(c)
	}
}
