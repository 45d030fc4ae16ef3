package accessjobs

import (
	"context"
	"hash/fnv"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/radius/directory"
)

// Times of the auditor.
const (
	auditLook    = 15 * time.Second   // between two searches for routers that are due, at most
	lookRetry    = time.Second        // of a look while another one at the router goes on
	secondLook   = 20 * time.Second   // from the first look to the second one; enforcement looks every 15
	refusedSince = 7 * 24 * time.Hour // how far back a last try counts
	auditTimeout = 2 * time.Minute    // of one router
)

// mostDoubtful bounds what one look at a router changes; the rest follows with the next one.
const mostDoubtful = 500

// LocalLogin names what lets a device in without RADIUS, or a session of nobody.
type LocalLogin struct {
	Session OnlineSession
	Local   bool // a secret, user or binding of the router lets it in, which is to be switched off
	Bypass  bool // it is an ip-binding of the hotspot
	MAC     string
}

// LocalWrite is one write that takes a local login away. Names and values say nothing about a customer.
type LocalWrite struct {
	Path, Operation, ID string
	Before, After       map[string]string
}

// Shown reads routers, and takes local logins away, through their own interface and behind their breakers.
type Shown interface {
	// Observe reads what a router shows about customers; an error says that nothing is known.
	Observe(ctx context.Context, device id.Device) (routerplan.Observed, error)
	// PlanLocal lists the writes that take a local login away; nothing when it has gone.
	PlanLocal(ctx context.Context, device id.Device, l LocalLogin) ([]LocalWrite, error)
	// WriteLocal makes one of them. It reports false when nothing was left to be written.
	WriteLocal(ctx context.Context, device id.Device, step LocalWrite) (bool, error)
}

// Auditor compares what routers show with what customers are entitled to (docs/rules/access-auditor.md#a-look). All
// fields are required, except those with a remark. Safe for concurrent use.
type Auditor struct {
	*Enforcer

	Shown   Shown
	Devices networkviews.DevicesQuery
	Open    accessviews.DifferencesQuery
	Every   time.Duration // ACCESS_AUDIT_INTERVAL
	// Behind reports whether reports of an organization's routers wait to be written, in any program, so that what is
	// known is old, or that nobody knows; nil = never.
	Behind    func(ctx context.Context, org id.Organization) bool
	LostAfter time.Duration          // how long an open session may be silent
	Passes    *prometheus.CounterVec // NewPasses; nil counts nothing
}

// The outcomes of passes.
const (
	passCompared = "compared"
	passUnknown  = "unknown" // nothing could be compared
	passFailed   = "failed"
)

// NewPasses makes the counter of looks at routers.
func NewPasses(to prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lastmile_access_audits_total",
		Help: "Looks of the auditor at routers, by outcome; unknown: nothing could be compared.",
	}, []string{"outcome"})
	for _, outcome := range []string{passCompared, passUnknown, passFailed} {
		c.WithLabelValues(outcome)
	}
	if to != nil {
		to.MustRegister(c)
	}
	return c
}

// Register makes the queue know the workers. Routers have places of their own, in which one that is slow takes one.
func (a *Auditor) Register() {
	o := jobrunner.Options{Queue: "audits", MaxAttempts: 1, Timeout: auditTimeout, Again: true}
	jobrunner.AddWorker(a.Queue, inTurns(a, a.AuditRouter), o)
	jobrunner.AddWorker(a.Queue, inTurns(a, a.ConfirmAudit), o)
	jobrunner.AddWorker(a.Queue, a.AuditAll, jobrunner.Options{MaxAttempts: 1})
	jobrunner.Every(a.Queue, a.look(), commands.AuditAccess{})
}

// inTurns has the looks at one router follow each other: of two at once each would end the same session.
func inTurns[T interface {
	commands.Job
	Device() id.Device
}](a *Auditor, look jobrunner.Work[T]) jobrunner.Work[T] {
	return func(ctx context.Context, args T, cause jobs.Cause) error {
		lock, got, err := a.Locks.TryLock(ctx, "audit "+args.Device().String())
		switch {
		case err != nil:
			return err
		case !got:
			return jobrunner.Snooze(lookRetry)
		}
		defer lock.Unlock()
		return look(ctx, args, cause)
	}
}

// look is the time between two searches for routers that are due.
func (a *Auditor) look() time.Duration { return min(auditLook, a.Every) }

// AuditAll asks for the audits of the routers that have become due lately: each router once in an interval, at an
// offset that follows from its id. A search may be late, so two of them can find the same router. What was due while no
// program ran is due again an interval later. A router that is known not to answer is not asked.
func (a *Auditor) AuditAll(ctx context.Context, _ commands.AuditAccess, _ jobs.Cause) error {
	rows, err := a.Devices.Every(ctx)
	if err != nil {
		return err
	}
	now := a.Clock.Now()
	for _, row := range rows {
		due := auditDue(row.ID, now, a.Every)
		if row.APIRef.IsZero() || now.Sub(due) >= 2*a.look() || due.Before(row.CreatedAt) {
			continue
		}
		if row.UnreachableSince != nil {
			err = a.Sessions.KeepLook(ctx, row.OrgID, row.ID, now, UnseenRouter)
		} else {
			err = a.Queue.InsertInPeriod(ctx, commands.AuditRouter{DeviceID: row.ID}, "audit "+row.ID.String(), due,
				jobs.Cause{OrgID: row.OrgID, Actor: auditActor})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// auditDue is the newest instant, not after now, at which a router is due.
func auditDue(device id.Device, now time.Time, every time.Duration) time.Time {
	h := fnv.New64a()
	u := device.UUID()
	_, _ = h.Write(u[:])
	due := now.Truncate(every).Add(time.Duration(h.Sum64() % uint64(every))) //nolint:gosec // intervals are positive
	if due.After(now) {
		due = due.Add(-every)
	}
	return due
}

// askPause is the time between the audits of two routers when all of an organization are asked for.
const askPause = 500 * time.Millisecond

// Now asks for the audit of one router of an organization at once, or of all of them for a zero id, one after the other
// and the last one within an interval. It gives the routers, and when the last audit begins. Fails: device_not_found.
func (a *Auditor) Now(
	ctx context.Context, org id.Organization, device id.Device,
) (asked []id.Device, last time.Time, err error) {
	rows, err := a.Devices.Every(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	var of []networkviews.DeviceRow
	for _, row := range rows {
		if row.OrgID != org || !device.IsZero() && row.ID != device || row.APIRef.IsZero() && device.IsZero() {
			continue
		}
		of = append(of, row)
	}
	asked, last = []id.Device{}, a.Clock.Now()
	for i, row := range of {
		wait := min(askPause, a.Every/time.Duration(len(of))) * time.Duration(i)
		if err := a.Queue.Insert(ctx, commands.AuditRouter{DeviceID: row.ID}, id.New[id.Any](),
			jobs.Cause{OrgID: row.OrgID, Actor: auditActor}, wait); err != nil {
			return nil, time.Time{}, err
		}
		asked, last = append(asked, row.ID), a.Clock.Now().Add(wait)
	}
	if len(asked) == 0 && !device.IsZero() {
		return nil, time.Time{}, commands.ErrNoDevice()
	}
	return asked, last, nil
}

// auditActor is the actor of what the auditor records.
var auditActor = events.Actor{Kind: events.ActorProcess, ID: "auditor"}

// Why a look could not compare. The values are part of the API.
const (
	UnseenRouter  = "router_unreachable" // it does not answer, or it is not one of ours any more
	UnseenRefuses = "router_refuses"     // it answers, and does not let the platform read it
	UnseenReports = "reports_waiting"    // reports of routers wait on the disk for the database
	UnseenLogins  = "directory_behind"   // who is entitled to what is not known up to now
	UnseenEvents  = "events_unreadable"  // an event of the organization cannot be read; waiting does not help
)

// seen is one comparison of a router.
type seen struct {
	unseen   string // why nothing was compared; "" = everything was
	fault    error  // of a router that could not be read
	found    map[id.Difference]Found
	doubtful []id.Difference // that are seen and not recorded so, or recorded and not seen
	recorded map[id.Difference]bool
}

// observe reads a router, compares it, and keeps when that was. Nothing can be said when the router does not answer, or
// what is known here is old.
func (a *Auditor) observe(ctx context.Context, device id.Device) (s seen, err error) {
	row, err := a.Devices.Any(ctx, device)
	switch {
	case err != nil:
		return seen{}, err
	case row == nil:
		return seen{unseen: UnseenRouter, fault: commands.ErrNoDevice()}, nil
	}
	at := a.Clock.Now()
	if s, err = a.compare(ctx, *row); err == nil {
		err = a.Sessions.KeepLook(ctx, row.OrgID, device, at, s.unseen)
	}
	return s, err
}

// compare is observe of a router that is one of ours.
func (a *Auditor) compare(ctx context.Context, row networkviews.DeviceRow) (s seen, err error) {
	if a.Breakers.Ready(routeros.BreakerKind, row.ID.String()) != nil {
		return seen{unseen: UnseenRouter}, nil
	}
	if s.unseen = a.behind(ctx, row.OrgID); s.unseen != "" {
		return s, nil
	}
	if a.Entitled.Directory.Incomplete(row.OrgID) {
		return seen{unseen: UnseenEvents}, nil
	}
	shown, err := a.Shown.Observe(ctx, row.ID)
	if err != nil {
		s = seen{unseen: UnseenRouter, fault: err}
		if failure.KindOf(err) == failure.Refused {
			s.unseen = UnseenRefuses
		}
		return s, nil
	}
	k, err := a.known(ctx, row.OrgID, row.ID)
	if err == nil {
		err = a.knowSilent(ctx, shown, &k)
	}
	if err != nil {
		return seen{}, err
	}
	// What was read of sessions can lack the reports that wait now.
	if s.unseen = a.behind(ctx, row.OrgID); s.unseen != "" {
		return s, nil
	}
	recorded, err := a.Open.OfDevice(ctx, row.OrgID, row.ID)
	if err != nil {
		return seen{}, err
	}
	s.found = map[id.Difference]Found{}
	for _, f := range few(Compare(shown, k), k, recorded) {
		if f, err = a.orByHand(ctx, f); err != nil {
			return seen{}, err
		}
		s.found[f.DifferenceID] = f
	}
	s.doubtful, s.recorded = doubtful(s.found, recorded), map[id.Difference]bool{}
	for _, row := range recorded {
		s.recorded[row.ID] = true
	}
	return s, nil
}

// behind says why what is known here of an organization is old; "" = it is not.
func (a *Auditor) behind(ctx context.Context, org id.Organization) string {
	switch {
	case a.Entitled.Reached(ctx, 0) != nil:
		return UnseenLogins
	case a.Behind != nil && a.Behind(ctx, org):
		return UnseenReports
	}
	return ""
}

// known collects what is known about a router.
func (a *Auditor) known(ctx context.Context, org id.Organization, device id.Device) (Known, error) {
	at := a.Clock.Now()
	k := Known{
		Org: org, Device: device, At: at,
		Present:    func(s id.Subscription) directory.Present { return a.Entitled.Directory.Present(s, at) },
		Ends:       func(s telemetry.Session) string { return a.ends(s, at) },
		AsSignedIn: func(s telemetry.Session) bool { return a.asSignedIn(s, at) },
		Limit:      func(s id.Subscription) int { return a.Entitled.Directory.SessionLimit(s, at) },
		Refuses:    func(s id.Subscription) bool { return a.Entitled.Directory.RefusesMore(s, at) },
		Wronged:    a.Entitled.Directory.Wronged,
		Holder: func(s routerplan.ObservedSession) (id.Subscriber, id.Subscription) {
			shown := directory.Shown{Username: s.User, MAC: s.MAC, Hotspot: s.Hotspot}
			return a.Entitled.Directory.Named(org, shown, at)
		},
		Voucher: func(s routerplan.ObservedSession) id.Voucher { return a.Entitled.Directory.Coded(org, s.User) },
	}
	var err error
	if k.Open, err = a.Sessions.OpenAtRouter(ctx, device); err != nil {
		return k, err
	}
	k.Refused, err = a.refused(ctx, org, device, at)
	return k, err
}

// doubtful lists the differences of a router in which what is seen is not what is recorded.
func doubtful(found map[id.Difference]Found, recorded []accessviews.DifferenceRow) []id.Difference {
	is := map[id.Difference]bool{}
	var out []id.Difference
	for _, row := range recorded {
		f, seen := found[row.ID]
		is[row.ID] = true
		if !seen || f.Expected != row.Expected || f.Actual != row.Actual || f.walled != row.Walled {
			out = append(out, row.ID)
		}
	}
	for difference := range found {
		if !is[difference] {
			out = append(out, difference)
		}
	}
	slices.SortFunc(out, func(x, y id.Difference) int { return slices.Compare(x[:], y[:]) })
	return out[:min(len(out), mostDoubtful)]
}

// AuditRouter looks at one router. What differs from what is recorded is looked at once more a little later, so that a
// change on its way is no difference; nothing is recorded before. What is recorded and stays is brought right once more
// where enforcement does not see it.
func (a *Auditor) AuditRouter(ctx context.Context, args commands.AuditRouter, cause jobs.Cause) error {
	s, err := a.observe(ctx, args.DeviceID)
	a.countPass(s, err)
	if err != nil {
		return err
	}
	a.bringShown(ctx, s, func(d id.Difference) bool { return s.recorded[d] }, cause)
	if len(s.doubtful) == 0 {
		return nil
	}
	return a.Queue.Insert(ctx, commands.ConfirmAudit{DeviceID: args.DeviceID, Doubtful: s.doubtful}, id.New[id.Any](),
		jobs.Cause{OrgID: cause.OrgID, Actor: auditActor}, secondLook)
}

// countPass counts one look.
func (a *Auditor) countPass(s seen, err error) {
	outcome := passCompared
	switch {
	case err != nil:
		outcome = passFailed
	case s.unseen != "":
		outcome = passUnknown
	}
	if a.Passes != nil {
		a.Passes.WithLabelValues(outcome).Inc()
	}
}

// ConfirmAudit looks a second time, and records what is as it was at the first look. Then it brings right what
// enforcement does not see.
func (a *Auditor) ConfirmAudit(ctx context.Context, args commands.ConfirmAudit, cause jobs.Cause) error {
	s, err := a.observe(ctx, args.DeviceID)
	a.countPass(s, err)
	if err != nil {
		return err
	}
	for _, difference := range s.doubtful {
		if !slices.Contains(args.Doubtful, difference) {
			continue
		}
		if err := a.record(ctx, difference, s.found, cause); err != nil {
			a.Logger.WarnContext(ctx, "a difference was not recorded", slog.String("error", err.Error()))
		}
		a.step("recorded")
	}
	twice := func(d id.Difference) bool { return slices.Contains(args.Doubtful, d) }
	if a.bringShown(ctx, s, twice, cause) {
		return a.Queue.Insert(ctx, commands.AuditRouter{DeviceID: args.DeviceID}, id.New[id.Any](),
			jobs.Cause{OrgID: cause.OrgID, Actor: auditActor}, 0)
	}
	return nil
}

// record opens, changes or closes one difference. What is recorded already gives no second event.
func (a *Auditor) record(
	ctx context.Context, difference id.Difference, found map[id.Difference]Found, cause jobs.Cause,
) error {
	var c commands.Command = commands.CloseDifference{DifferenceID: difference}
	if f, is := found[difference]; is {
		c = commands.OpenDifference{
			Difference: f.AccessDifference, Expected: f.Expected, Actual: personal.Of(f.Actual), Walled: f.walled,
		}
	}
	meta := cause.Meta(c.CommandName() + " " + difference.String())
	meta.Actor, meta.CommandID = auditActor, id.New[id.Command]()
	_, err := a.Bus.Execute(ctx, c, meta)
	return err
}

// differenceOf loads a difference of an organization. Fails: difference_not_found.
func (a *Auditor) differenceOf(
	ctx context.Context, org id.Organization, difference id.Difference,
) (access.Difference, error) {
	state, _, err := bus.LoadOwned[access.Difference](ctx, a.Bus, org, difference)
	if err == nil && !state.Open {
		err = commands.ErrNoDifference()
	}
	return state, err
}

// sessionOf reads the session that a difference is about; nil = it has ended.
func (a *Auditor) sessionOf(ctx context.Context, f Found) (*telemetry.Session, error) {
	s, err := a.Sessions.Get(ctx, f.OrgID, f.session)
	if err != nil || s == nil || s.EndedAt != nil {
		return nil, err
	}
	return s, nil
}
