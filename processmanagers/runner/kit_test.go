package processrunner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
)

// parcel is the event of these tests: What happened to the parcel No.
type parcel struct {
	No   string
	What string
}

func (parcel) EventType() string { return "test.Parcel.v1" }

// deliver is the command of these tests.
type deliver struct {
	No  string
	Why string
}

func (deliver) CommandName() string { return "test.Deliver" }

// Target derives the id from the parcel's number.
func (d deliver) Target() commands.Target {
	return commands.At("parcel", id.Derive[id.Any]("parcel", d.No))
}
func (deliver) Validate() error { return nil }

// ring is the job of these tests.
type ring struct{ No string }

func (ring) Kind() string { return "test.ring" }

// echo is an event that only follows others of a parcel.
type echo struct{ No string }

func (echo) EventType() string { return "test.Echo.v1" }

// trip is the state of the process courier: the words of all inputs so far.
type trip struct {
	Seen []string
	Over bool
}

// courier reacts to the word of a parcel event: "deliver" gives a command, "ring" a job, "wait" a timer of an hour,
// "calm" disarms the timer, "bad" is poison, "panic decide" and "panic evolve" panic, "over" ends the instance. A
// timeout and an echo give a job, and the refusal nobody_home a command. forgive makes poison harmless.
func courier(name string, forgive *atomic.Bool) processmanagers.Process[trip] {
	return processmanagers.Process[trip]{
		Name: name, On: []processmanagers.Handled{
			processmanagers.On(func(e parcel) string { return e.No }),
			processmanagers.Follow(func(e echo) string { return e.No }),
		},
		Decide: func(s trip, in processmanagers.Input, now time.Time) (processmanagers.Output, error) {
			if word(in) == "panic decide" {
				panic(word(in))
			}
			out, err := decide(s, in, now)
			if forgive.Load() {
				err = nil
			}
			return out, err
		},
		Evolve: func(s trip, in processmanagers.Input) trip {
			if word(in) == "panic evolve" {
				panic(word(in))
			}
			s.Seen = append(append([]string(nil), s.Seen...), word(in))
			s.Over = word(in) == "over"
			return s
		},
		Ended: func(s trip) bool { return s.Over },
	}
}

// decide is the Decide of courier. Its only error is for "bad".
func decide(s trip, in processmanagers.Input, now time.Time) (out processmanagers.Output, err error) {
	no := ""
	if in.Event != nil {
		p, _ := in.Event.Event.(parcel)
		no = p.No
	}
	switch w := word(in); w {
	case "deliver":
		out.Commands = []commands.Command{deliver{no, fmt.Sprint(len(s.Seen))}, deliver{no, "again"}}
	case "ring":
		out.Jobs = []commands.Job{ring{no}}
	case "wait":
		out.Timers = []processmanagers.Timer{{Name: "patience", At: now.Add(time.Hour)}}
	case "calm":
		out.Timers = []processmanagers.Timer{{Name: "patience"}}
	case "bad":
		return out, fmt.Errorf("no such parcel")
	case "timeout patience", "echo":
		out.Jobs = []commands.Job{ring{"late"}}
	case "refusal nobody_home":
		out.Commands = []commands.Command{deliver{"neighbour", "refused"}}
	}
	return out, nil
}

// word describes an input in the state: the event's What, or "timeout" with a name, or "refusal" with a code.
func word(in processmanagers.Input) string {
	switch {
	case in.Event != nil:
		if p, ok := in.Event.Event.(parcel); ok {
			return p.What
		}
		return "echo"
	case in.Timeout != nil:
		return "timeout " + in.Timeout.Name
	}
	return "refusal " + in.Refusal.Code
}

// office stands in for bus and job queue: it records what it executes and takes. Safe for concurrent use.
type office struct {
	mu      sync.Mutex
	changed chan struct{}
	acts    []act
	byID    map[id.Command]bool
	answer  func(deliver) error
	last    uint64                                       // position of the events of commands; set before they act
	before  func(ctx context.Context, step string) error // called at "job" and "execute", and after it at "executed"
	jobs    map[id.Any]ring
	causes  []jobs.Cause
}

// act is one command that was executed for the first time.
type act struct {
	Cmd  deliver
	Meta commands.Meta
}

// newOffice makes an office that accepts every command.
func newOffice() *office {
	return &office{changed: make(chan struct{}), byID: map[id.Command]bool{}, jobs: map[id.Any]ring{}}
}

// Execute implements processrunner.Bus.
func (o *office) Execute(ctx context.Context, cmd commands.Command, meta commands.Meta) (bus.Result, error) {
	if err := o.step(ctx, "execute"); err != nil {
		return bus.Result{}, err
	}
	if err := o.act(cmd, meta); err != nil {
		return bus.Result{}, err
	}
	return bus.Result{Position: o.last}, o.step(ctx, "executed")
}

// step calls the hook before, which can fail or stop the program at that step.
func (o *office) step(ctx context.Context, name string) error {
	o.mu.Lock()
	before := o.before
	o.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(ctx, name)
}

// act records a command the first time, unless the answer that the test has set refuses it.
func (o *office) act(cmd commands.Command, meta commands.Meta) error {
	d, _ := cmd.(deliver)
	o.mu.Lock()
	answer := o.answer
	o.mu.Unlock()
	if answer != nil {
		if err := answer(d); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.byID[meta.CommandID] { // a command acts once, as with the real bus
		o.byID[meta.CommandID] = true
		o.acts = append(o.acts, act{d, meta})
	}
	close(o.changed)
	o.changed = make(chan struct{})
	return nil
}

// InsertTx records a job at once, also when the transaction is rolled back later. The same id is one job.
func (o *office) InsertTx(ctx context.Context, _ pgx.Tx, job commands.Job, jobID id.Any, cause jobs.Cause) error {
	if err := o.step(ctx, "job"); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	r, _ := job.(ring)
	o.jobs[jobID] = r
	o.causes = append(o.causes, cause)
	close(o.changed)
	o.changed = make(chan struct{})
	return nil
}

// setAnswer sets the result of later commands.
func (o *office) setAnswer(answer func(deliver) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answer = answer
}

// until waits up to 10 s for a condition on the office; cond is called with the lock held.
func (o *office) until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for {
		o.mu.Lock()
		ok, changed := cond(), o.changed
		o.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("never %s: %+v %+v", what, o.acts, o.jobs)
		case <-changed:
		}
	}
}

// EncodeStored refuses the parcel "secret", as the real bus refuses personal fields.
func (*office) EncodeStored(cmd commands.Command) (name string, body []byte, err error) {
	if d, _ := cmd.(deliver); d.No == "secret" {
		return "", nil, errors.New("not for a row")
	}
	body, err = json.Marshal(cmd)
	return cmd.CommandName(), body, err
}

// DecodeStored decodes deliver, the only command here.
func (*office) DecodeStored(name string, body []byte) (commands.Command, error) {
	if name != "test.Deliver" {
		return nil, failure.NewInvalid("unknown_command")
	}
	var d deliver
	err := json.Unmarshal(body, &d)
	return d, err
}

// bench has all parts of a runner's Config.
type bench struct {
	log    *feedtest.Log
	db     *postgres.DB
	clock  *clock.Manual
	office *office

	forgive atomic.Bool // of processes that are opened
	lost    func()      // of engines; nil = nobody is told
	settled func(events.Envelope) bool
}

// noon is the instant at which the tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newBench makes a bench with an empty log and an office that accepts everything.
func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{log: feedtest.New(), db: pgtest.New(t), clock: clock.NewManual(noon), office: newOffice()}
}

// start makes a running engine with processes of these names; the test's end stops it.
func (b *bench) start(t testing.TB, names ...string) *processrunner.Runner {
	t.Helper()
	r := b.open(t, names...)
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// open makes an engine with processes of these names that is not started.
func (b *bench) open(t testing.TB, names ...string) *processrunner.Runner {
	t.Helper()
	return b.openWith(t, nil, names...)
}

// openWith is open with a gate before commands; nil = always open.
func (b *bench) openWith(t testing.TB, gate *clock.Gate, names ...string) *processrunner.Runner {
	t.Helper()
	r := processrunner.New(processrunner.Config{
		Feed: feedtest.Start(t, b.log), DB: b.db, Clock: b.clock, Gate: gate, Bus: b.office,
		Jobs: b.office, Concurrency: 4, Lost: b.lost, Settled: b.settled,
	})
	for _, name := range names {
		r.Register(courier(name, &b.forgive))
	}
	return r
}

// meta is the metadata of all events here.
var meta = events.Metadata{
	OrgID: id.Must[id.Organization]("00000000-0000-7000-8000-00000000000a"),
	Actor: events.Actor{Kind: events.ActorUser, ID: "someone", Role: "admin"}, CorrelationID: "the story", At: noon,
}

// happen appends words about a parcel and returns the position of the last event.
func (b *bench) happen(no string, what ...string) (position uint64) {
	for _, w := range what {
		position = b.log.Append(meta, parcel{no, w})
	}
	return position
}

// seen returns the words in the stored state of an instance, and fails when there is no instance.
func (b *bench) seen(t testing.TB, process, key string) []string {
	t.Helper()
	list := b.seenMaybe(t, process, key)
	if list == nil {
		t.Fatalf("%s has no instance %s", process, key)
	}
	return list
}

// seenMaybe is seen, but returns nil when there is no instance.
func (b *bench) seenMaybe(t testing.TB, process, key string) []string {
	t.Helper()
	var body []byte
	err := b.db.Owner.QueryRow(t.Context(),
		`select coalesce(state, '{}') from `+b.db.Namespace.Schema("processes")+
			`.instances where process = $1 and key = $2`, process, key).Scan(&body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	var state trip
	if err == nil {
		err = json.Unmarshal(body, &state)
	}
	if err != nil {
		t.Fatalf("instance %s: %v", key, err)
	}
	return append([]string{}, state.Seen...)
}

// rows counts the rows of one of the engine's tables.
func (b *bench) rows(t testing.TB, table string) (n int) {
	t.Helper()
	if err := b.db.Owner.QueryRow(t.Context(),
		`select count(*) from `+b.db.Namespace.Schema("processes")+`.`+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// taken waits up to 15 s until a process has taken all events up to a position.
func taken(t testing.TB, r *processrunner.Runner, process string, position uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	if err := r.WaitFor(ctx, process, position); err != nil {
		t.Fatalf("%s never took %d: %+v", process, position, r.Status())
	}
}

// poll checks a condition every 5 ms for up to 10 s, for changes that no channel reports.
func poll(t testing.TB, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatalf("never %s", what)
		case <-tick.C:
		}
	}
}
