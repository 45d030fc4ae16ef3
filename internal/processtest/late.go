package processtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// maxFirings bounds the timers that CheckLate fires of one story: processes arm them again for ever.
const maxFirings = 24

// CheckLate wants a process to decide late as it decides punctually. After each event of the list, and each two of
// them, it lets the timers fire: once each at its instant, and once all of them at the instant of the last one, as
// after an outage. What the process asks for at that instant, its state and the timers that it arms then must be the
// same both times. looks are fields of the state and of jobs that count looks or name one.
func CheckLate(t testing.TB, p processmanagers.Erased, list []events.Envelope, looks ...string) {
	t.Helper()
	stories := make([][]events.Envelope, 0, len(list)*(len(list)+1))
	for _, first := range list {
		stories = append(stories, []events.Envelope{first})
		for _, second := range list {
			stories = append(stories, []events.Envelope{first, second})
		}
	}
	for _, story := range stories {
		began := begin(p, story, looks)
		whole := began.fire(time.Time{})
		for i, last := range whole.instants {
			if i > 0 && last.Equal(whole.instants[i-1]) {
				continue
			}
			punctual, late := began.upTo(last, false), began.upTo(last, true)
			if diff := punctual.differs(late, last); diff != "" {
				t.Errorf("%s: after %s, looked at %s, %s late (-punctual +late)\n%s", p.Name, typesOf(story),
					last.Format(time.RFC3339Nano), last.Sub(whole.instants[0]), diff)
				break
			}
		}
	}
}

// typesOf lists what a story has recorded, for the message of a failed property.
func typesOf(story []events.Envelope) string {
	list := make([]string, len(story))
	for i, e := range story {
		list[i] = e.Type
	}
	return strings.Join(list, ", ")
}

// asked is a command or a job that a process asked for, as text.
type asked struct {
	what string
	at   time.Time
}

// course is an instance with its timers, and what has happened to it.
type course struct {
	p        processmanagers.Erased
	looks    []string // fields that are not compared
	state    []byte
	timers   map[string]time.Time
	armed    map[string]time.Time // when each was armed
	instants []time.Time          // of the timers that fired
	asked    []asked
	stopped  string
}

// begin gives the events of a story to a new instance, each at its time.
func begin(p processmanagers.Erased, story []events.Envelope, looks []string) course {
	c := course{p: p, looks: looks, timers: map[string]time.Time{}}
	for _, e := range story {
		c = c.step(processmanagers.Input{Event: &e}, e.Meta.At)
	}
	c.asked = nil
	return c
}

// step gives the instance an input.
func (c course) step(in processmanagers.Input, now time.Time) course {
	next, err := c.p.Step(&processmanagers.Stored{JSON: c.state}, in, now)
	if err != nil {
		c.stopped = err.Error()
		return c
	}
	c.state = next.State
	c.timers, c.armed = clone(c.timers), clone(c.armed)
	for _, timer := range next.Output.Timers {
		c.timers[timer.Name], c.armed[timer.Name] = timer.At, now
		if timer.At.IsZero() {
			delete(c.timers, timer.Name)
		}
	}
	if next.Ended {
		c.state, c.timers = nil, map[string]time.Time{}
	}
	c.asked = slices.Clone(c.asked)
	for _, cmd := range next.Output.Commands {
		c.asked = append(c.asked, asked{c.text(cmd.CommandName(), cmd), now})
	}
	for _, job := range next.Output.Jobs {
		c.asked = append(c.asked, asked{c.text(job.Kind(), job), now})
	}
	return c
}

// clone copies instants by name, never to nil.
func clone(of map[string]time.Time) map[string]time.Time {
	all := make(map[string]time.Time, len(of))
	maps.Copy(all, of)
	return all
}

// text is a command or a job in words.
func (c course) text(name string, value any) string {
	row, err := json.Marshal(value)
	return fmt.Sprint(name, " ", c.fields(row), err)
}

// earliest is the timer that is due first, "" without one.
func (c course) earliest() (name string) {
	for timer, at := range c.timers {
		if name == "" || at.Before(c.timers[name]) || at.Equal(c.timers[name]) && timer < name {
			name = timer
		}
	}
	return name
}

// fire fires timers in the order of their instants, at their instants or, with a time given, at that.
func (c course) fire(late time.Time) course {
	for len(c.instants) < maxFirings && c.stopped == "" {
		name := c.earliest()
		due, now := c.timers[name], late
		if name == "" || !late.IsZero() && due.After(late) {
			return c
		}
		if late.IsZero() {
			now = due
		}
		c.instants = append(slices.Clone(c.instants), due)
		c.timers = clone(c.timers)
		delete(c.timers, name)
		c = c.step(processmanagers.Input{Timeout: &processmanagers.Timeout{Name: name, Due: due}}, now)
	}
	return c
}

// upTo fires the timers that are due up to an instant, each at its own or all at that one.
func (c course) upTo(last time.Time, late bool) course {
	if late {
		return c.fire(last)
	}
	for len(c.instants) < maxFirings && c.stopped == "" {
		name := c.earliest()
		if name == "" || c.timers[name].After(last) {
			return c
		}
		c = c.fire(c.timers[name])
	}
	return c
}

// differs compares a late course with a punctual one at their last instant.
func (c course) differs(late course, last time.Time) string {
	var lacks []string
	timers, lateTimers := clone(c.timers), clone(late.timers)
	for name := range timers {
		if _, both := lateTimers[name]; both && !c.armed[name].Equal(last) {
			timers[name] = lateTimers[name] // from another look
		}
	}
	for _, a := range c.asked {
		same := func(b asked) bool { return b.what == a.what }
		if a.at.Equal(last) && !slices.ContainsFunc(late.asked, same) {
			lacks = append(lacks, "not asked for late: "+a.what)
		}
	}
	return strings.Join(lacks, "\n") + cmp.Diff(c.stopped, late.stopped) + cmp.Diff(timers, lateTimers) +
		cmp.Diff(c.fields(c.state), c.fields(late.state))
}

// fields decodes a state, a command or a job without the fields that count looks or name one.
func (c course) fields(body []byte) map[string]any {
	var all map[string]any
	if json.Unmarshal(body, &all) != nil {
		return nil
	}
	for _, name := range c.looks {
		delete(all, name)
	}
	return all
}
