package runner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/waittest"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// till is a model in memory that adds up the sold pieces.
type till struct{ sum atomic.Int64 }

func (*till) Name() string      { return "till" }
func (*till) Handles() []string { return []string{"test.Sold.v1"} }

// Apply adds, so that an event applied twice is found. A negative number makes it panic.
func (m *till) Apply(e events.Envelope) {
	if s, ok := e.Event.(sold); ok {
		if s.N < 0 {
			panic("sold less than nothing")
		}
		m.sum.Add(int64(s.N))
	}
}

// memory makes a model on a log and the Memory that fills it, not started.
func memory(t *testing.T, log *feedtest.Log) (*runner.Memory, *till) {
	t.Helper()
	model := &till{}
	m := runner.NewMemory(model, runner.Config{Feed: feedtest.Start(t, log)})
	t.Cleanup(m.Stop)
	return m, model
}

func TestMemory_StartReturnsWhenTheLogIsTold(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	for range 1500 { // more than one page
		log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1}, noise{})
	}
	m, model := memory(t, log)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := model.sum.Load(); got != 1500 {
		t.Errorf("started at %d of 1500", got)
	}
	position := log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 7})
	if err := m.WaitFor(t.Context(), position); err != nil || model.sum.Load() != 1507 {
		t.Errorf("%d, %v", model.sum.Load(), err)
	}
	// The model does not handle this event.
	if err := m.WaitFor(t.Context(), log.Append(events.Metadata{OrgID: orgA}, noise{})); err != nil {
		t.Error(err)
	}
}

func TestMemory_GoesOnAfterALostLog(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	m, model := memory(t, log)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	log.SetAway(true)
	position := log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
	log.SetAway(false)
	deadline, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for m.WaitFor(deadline, position) != nil && deadline.Err() == nil {
	}
	if model.sum.Load() != 1 || m.Fault() != "" {
		t.Errorf("sum %d, fault %q", model.sum.Load(), m.Fault())
	}
}

func TestMemory_AnUnreadableEventStopsItVisibly(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	m, model := memory(t, log)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1}, feed.Undecodable{
		Type: "test.Sold.v1", Cause: errors.New("rubbish"),
	})
	position := log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
	if err := m.WaitFor(t.Context(), position); !errors.Is(err, runner.ErrBehind) {
		t.Errorf("wait: %v", err)
	}
	if m.Fault() == "" || model.sum.Load() != 1 {
		t.Errorf("fault %q, sum %d: nothing may be skipped", m.Fault(), model.sum.Load())
	}
}

func TestMemory_InFrontOfAnUnreadableEventTheStartReturnsAndTheModelGoesOnOnceItCanBeRead(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
	bad := log.Append(events.Metadata{OrgID: orgA}, feed.Undecodable{
		Type: "test.Sold.v9", Cause: errors.New("unknown type"), Unknown: true,
	})
	last := log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
	m, model := memory(t, log)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := m.Status(); m.Fault() == "" || s.State != runner.StateStopped || s.Error == "" || model.sum.Load() != 1 {
		t.Errorf("%+v, sum %d: nothing may be skipped", s, model.sum.Load())
	}
	log.Learn(bad, sold{"tea", 5})
	deadline, cancel := context.WithTimeout(t.Context(), waittest.Limit)
	defer cancel()
	for m.Fault() != "" && deadline.Err() == nil {
		_ = m.WaitFor(deadline, last)
	}
	if err := m.WaitFor(deadline, last); err != nil || model.sum.Load() != 7 {
		t.Errorf("%v, sum %d: each event counts once", err, model.sum.Load())
	}
	if s := m.Status(); s.State != runner.StateLive || s.Error != "" {
		t.Errorf("%+v", s)
	}
}

// partial leaves organizations.
type partial struct {
	*till
	left []id.Organization
}

// Leave implements runner.PartialModel.
func (p *partial) Leave(org id.Organization) { p.left = append(p.left, org) }

func TestMemory_AnUnreadableEventOfAnOrganizationLeavesThisOneAlone(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	bad := feed.Undecodable{Type: "test.Sold.v9", Cause: errors.New("unknown type"), Unknown: true}
	log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1}, bad, bad)
	log.Append(events.Metadata{OrgID: orgB}, sold{"tea", 2})
	model := &partial{till: &till{}}
	m := runner.NewMemory(model, runner.Config{Feed: feedtest.Start(t, log)})
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer m.Stop()
	if left := m.Left(); m.Fault() != "" || !m.Status().CaughtUp || len(left) != 1 ||
		!strings.Contains(left[0], orgA.String()) || !slices.Equal(model.left, []id.Organization{orgA}) {
		t.Errorf("fault %q, left %v, told %v", m.Fault(), left, model.left)
	}
	last := log.Append(events.Metadata{OrgID: orgB}, sold{"tea", 4})
	if err := m.WaitFor(t.Context(), last); err != nil || model.sum.Load() != 7 {
		t.Errorf("%v, sum %d", err, model.sum.Load())
	}
	log.Append(events.Metadata{}, bad)
	last = log.Append(events.Metadata{OrgID: orgB}, sold{"tea", 8})
	if err := m.WaitFor(t.Context(), last); !errors.Is(err, runner.ErrBehind) || m.Fault() == "" {
		t.Errorf("an event of nobody: %v, %q", err, m.Fault())
	}
}

func TestMemory_APanicStopsTheModelOnly(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	m, model := memory(t, log)
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1}, sold{"tea", -1})
	position := log.Append(events.Metadata{OrgID: orgA}, sold{"tea", 1})
	if err := m.WaitFor(t.Context(), position); !errors.Is(err, runner.ErrBehind) {
		t.Errorf("wait: %v", err)
	}
	if m.Fault() == "" || model.sum.Load() != 1 {
		t.Errorf("fault %q, sum %d: nothing may be skipped or repeated", m.Fault(), model.sum.Load())
	}
}

func TestMemory_StopWithoutAStart(t *testing.T) {
	t.Parallel()
	m, _ := memory(t, feedtest.New())
	m.Stop()
}
