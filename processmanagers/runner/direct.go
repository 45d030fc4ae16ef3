package processrunner

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// How timers act directly.
const (
	directFrom  = 8                // timers of one instant; fewer are taken sooner than events of commands come back
	directLimit = 5 * time.Second  // of one command, and of the wait for its events
	directPause = 30 * time.Second // after a command that failed by an outage: the outbox keeps nobody waiting
	directCrew  = 64               // goroutines for the timers of a batch
	directPer   = 32               // commands that are executed at the same time, for each input
)

// direct is a timer whose commands are executed before anything is written.
type direct struct {
	input
	inst     instance // as it was read
	turn     *turn    // of the instance; left when the commands were accepted
	commands []commands.Command
	again    time.Time // when it is set again; zero = never
	position uint64    // of the last event of the commands; 0 = none
	accepted bool
}

// actDirectly executes what timers ask for without storing it first, and gives the inputs that must be taken instead.
// It is for timers that ask for nothing but commands and to be set again: when the program stops in between, the timer
// fires again, and its commands have the same ids, so they act once. Mostly their events set the timer anew, and then
// nothing of the timeout is left to be written. Whatever is not accepted at once is taken, and so stored, as any other
// input. The turns are those of the inputs.
func (d *round) actDirectly(ctx context.Context, list []input, turns []*turn) ([]input, error) {
	if len(list) < directFrom || d.storesAll() {
		return list, nil
	}
	org := list[0].cause.OrgID
	var some []*direct
	var rest []input
	err := d.inSlot(ctx, org, func() (err error) {
		some, rest, err = d.plain(ctx, list, turns)
		return err
	})
	if err != nil {
		return nil, err
	}
	d.flight.add(some)
	var crew sync.WaitGroup
	var next atomic.Int64
	for range min(directCrew, len(some)) {
		crew.Go(func() {
			for n := next.Add(1); n <= int64(len(some)) && !d.storesAll(); n = next.Add(1) {
				d.act(ctx, some[n-1])
			}
		})
	}
	crew.Wait()
	var done, failed []*direct
	for _, t := range some {
		if t.accepted {
			done = append(done, t)
		} else {
			failed, rest = append(failed, t), append(rest, t.input)
		}
	}
	d.flight.remove(failed)
	if len(done) > 0 {
		d.loops.Go("timers that acted", func(ctx context.Context) { d.land(ctx, org, done) })
	}
	return rest, nil
}

// storesAll reports whether no timer acts directly for a while, because a command failed by an outage.
func (d *round) storesAll() bool { return steady.Now().Before(time.UnixMicro(d.indirect.Load())) }

// land waits for what the events of commands do to their timers, and writes what is left. When it fails, the timers
// fire again.
func (d *round) land(ctx context.Context, org id.Organization, done []*direct) {
	defer d.flight.remove(done)
	var last uint64
	for _, t := range done {
		last = max(last, t.position)
	}
	limited, cancel := context.WithTimeout(ctx, directLimit)
	defer cancel()
	_ = d.track.wait(limited, last) // at its end what has not been set anew is set here
	left := d.flight.left(done)
	if len(left) == 0 {
		return
	}
	err := d.inSlot(ctx, org, func() error { return d.settle(ctx, left) })
	if err != nil && ctx.Err() == nil {
		d.r.logger.WarnContext(ctx, "timers cannot be set again", "process", d.name, "error", err)
		loop.Sleep(ctx, timerPause)
	}
}

// flight is the instances whose timers have acted, and whose rows may still be as they were: they are not searched.
// Safe for concurrent use.
type flight struct {
	mu     sync.Mutex
	keys   map[string]*flying
	landed chan struct{} // wakes who waits for one to land
}

// flying has what is known of an instance since its timer has acted.
type flying struct {
	inst *instance       // its row, until an input is taken: nobody else writes it in this term
	set  map[string]bool // names of the timers that were set
}

// add adds the instances of timers.
func (f *flight) add(list []*direct) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range list {
		f.keys[t.key] = &flying{inst: &t.inst}
	}
}

// row gives the row of an instance for the next input alone, which may change it; nil = it must be read.
func (f *flight) row(key string) (row *instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.keys[key]; one != nil {
		row, one.inst = one.inst, nil
	}
	return row
}

// set notes that a transaction has set timers of an instance or taken them away.
func (f *flight) set(key string, timers []processmanagers.Timer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.keys[key]
	if one == nil || len(timers) == 0 {
		return
	}
	if one.set == nil {
		one.set = make(map[string]bool, len(timers))
	}
	for _, t := range timers {
		one.set[t.Name] = true
	}
}

// left gives those of some timers that nobody has set since they acted.
func (f *flight) left(list []*direct) []*direct {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(list), func(t *direct) bool {
		one := f.keys[t.key]
		return one != nil && one.set[t.timer.Name]
	})
}

// remove takes the instances of timers out.
func (f *flight) remove(list []*direct) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range list {
		delete(f.keys, t.key)
	}
	loop.Wake(f.landed)
}

// list gives the instances.
func (f *flight) list() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.AppendSeq(make([]string, 0, len(f.keys)), maps.Keys(f.keys))
}

// fewer waits until fewer than so many instances are left, or ctx ended.
func (f *flight) fewer(ctx context.Context, than int) error {
	for {
		f.mu.Lock()
		n := len(f.keys)
		f.mu.Unlock()
		if n < than || !loop.Wait(ctx, f.landed) {
			return ctx.Err()
		}
	}
}

// selectPlainSQL reads the states of instances that have not stopped and hold no events, in the present term, whose
// timers are as they were read: an event may have set one or taken it away before the turn of its instance.
const selectPlainSQL = `
select i.key, i.state, i.last_position, i.quiet
from unnest(@keys::text[], @names::text[], @dues::timestamptz[], @causes::text[]) n (key, name, due_at, cause)
join {schema}.timers t on t.process = @process and t.key = n.key and t.name = n.name and t.due_at = n.due_at
	and t.cause = n.cause::jsonb
join {schema}.instances i on i.process = @process and i.key = n.key
where not i.ended and i.error = ''
	and not exists (select from {schema}.held h where h.process = i.process and h.key = i.key)
	and exists (select from {schema}.leader where epoch = @epoch)`

// plain divides timers into those that can act directly and the others: whose instances are not as usual or have older
// commands, or which do more than to ask for commands. A timer that is gone is among the others, which leave it out.
func (d *round) plain(ctx context.Context, list []input, turns []*turn) (some []*direct, rest []input, err error) {
	var read timerRows
	for _, in := range list {
		read.add(in.timer)
	}
	rows, err := d.r.cfg.DB.Owner.Query(ctx, d.r.sql(selectPlainSQL), pgx.NamedArgs{
		"process": d.name, "keys": read.keys, "names": read.names, "dues": read.dues, "causes": read.causes,
		"epoch": d.term.epoch,
	})
	if err != nil {
		return nil, nil, passingAlways(err)
	}
	found := make(map[string]instance, len(list))
	var key string
	inst := instance{begun: true}
	_, err = pgx.ForEachRow(rows, []any{&key, &inst.state.JSON, &inst.last, &inst.quiet}, func() error {
		found[key] = inst
		return nil
	})
	if err != nil {
		return nil, nil, passingAlways(err)
	}
	waiting, err := d.waiting(ctx, d.r.cfg.DB.Owner, read.keys)
	if err != nil {
		return nil, nil, passingAlways(err)
	}
	now := d.r.cfg.Clock.Now()
	for i, in := range list {
		t := &direct{input: in, turn: turns[i], inst: found[in.key]}
		if t.inst.begun && !waiting[in.key] && d.asksOnly(t, now) {
			some = append(some, t)
		} else {
			rest = append(rest, in)
		}
	}
	return some, rest, nil
}

// asksOnly runs the process for a timer, and reports whether it does nothing but ask for commands and set the timer
// again. A fault of the process shows again when the input is taken.
func (d *round) asksOnly(t *direct, now time.Time) bool {
	next, err := d.step(&t.inst.state, t.Input, now)
	if err != nil || !next.Same || next.Ended || len(next.Output.Jobs) > 0 || len(next.Output.Commands) == 0 {
		return false
	}
	for _, set := range next.Output.Timers {
		if set.Name != t.timer.Name {
			return false
		}
		t.again = set.At
	}
	t.commands = next.Output.Commands
	return true
}

// act executes the commands of a timer in their order, and leaves the turn of its instance when all are accepted, so
// that their events are taken.
func (d *round) act(ctx context.Context, t *direct) {
	err := loop.Try(func() error {
		for n, cmd := range t.commands {
			done, err := d.outbox.execute(ctx, d.r.acting, cmd, d.commandID(t.id, n), t.cause)
			if err != nil {
				return err
			}
			t.position = max(t.position, done.Position)
		}
		return nil
	})
	switch {
	case err == nil:
		t.accepted = true
		t.turn.leave()
	case outage(err):
		d.indirect.Store(steady.Now().Add(directPause).UnixMicro())
	}
}

// settleSQL changes timers that are as they were when they fired: those with an instant are set again, the others are
// over.
const settleSQL = `
with n as (
	select * from unnest(@keys::text[], @names::text[], @dues::timestamptz[], @causes::text[], @again::timestamptz[])
		n (key, name, due_at, cause, again)
	where exists (select from {schema}.leader where epoch = @epoch)),
over as (
	delete from {schema}.timers t using n
	where t.process = @process and t.key = n.key and t.name = n.name and t.due_at = n.due_at
		and t.cause = n.cause::jsonb and n.again is null)
update {schema}.timers t set due_at = n.again from n
where t.process = @process and t.key = n.key and t.name = n.name and t.due_at = n.due_at
	and t.cause = n.cause::jsonb and n.again is not null`

// settle writes what is left of timers that have acted: nothing where an event has set the timer meanwhile. The search
// for the next due timer comes after it.
func (d *round) settle(ctx context.Context, done []*direct) error {
	var fired timerRows
	var again []*time.Time
	for _, t := range done {
		fired.add(t.timer)
		var at *time.Time
		if !t.again.IsZero() {
			at = &t.again
		}
		again = append(again, at)
	}
	_, err := d.r.cfg.DB.Owner.Exec(ctx, d.r.sql(settleSQL), pgx.NamedArgs{
		"process": d.name, "keys": fired.keys, "names": fired.names, "dues": fired.dues, "causes": fired.causes,
		"again": again, "epoch": d.term.epoch,
	})
	if err != nil {
		return passingAlways(err)
	}
	return nil
}
