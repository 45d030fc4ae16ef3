package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loop"
)

// While large groups of reports come, what takes the spool into the database leaves the processors and the disk to the
// answers for giveWay times as long as a group took, and takes smallGroup reports at once, as long as the tables are
// not far behind. A commit of groupSize reports keeps a processor busy for longer than routers should wait.
const (
	giveWay     = 3
	smallGroup  = 256
	mostGiveWay = time.Second
	earlyFor    = 4 * time.Second // for which the oldest report may wait
	earlyShare  = 16              // the spool may have one part in so many of its limit
)

// record makes one group durable and hands it over to be answered, so that the next group need not wait for that.
// Behind older reports in the spool it goes there, too.
func (r *Recorder) record(ctx context.Context, group []pending) {
	handed := false
	defer func() {
		if !handed { // a panic
			refuse(group)
		}
	}()
	reports := make([]Report, len(group))
	for i, p := range group {
		reports[i] = p.report
	}
	kept := r.keep(ctx, reports)
	r.step("durable")
	handed = true
	select {
	case r.answers <- answers{group, kept}:
	case <-ctx.Done():
		r.answer(answers{group, kept})
	}
}

// answers is a group that is durable, except for reports that kept has as false; nil = all are.
type answers struct {
	group []pending
	kept  []bool
}

// answer tells who waits for a group.
func (r *Recorder) answer(a answers) {
	answered := 0
	defer func() { refuse(a.group[answered:]) }() // after a panic
	for i, p := range a.group {
		if a.kept == nil || a.kept[i] {
			r.guard(p.report.Org, func() { r.cfg.Heard(p.report) })
		}
	}
	for i, p := range a.group {
		answered = i + 1
		p.done(a.kept == nil || a.kept[i])
	}
}

// refuse makes routers repeat reports.
func refuse(group []pending) {
	for _, p := range group {
		p.done(false)
	}
}

// keep makes reports durable. It reports of each whether it is; nil = all are. A small group is committed, so that its
// sessions are seen at once. A large one, for which the database would take longer than a disk, goes into the spool,
// and the database takes it from there in larger groups yet; so does what comes while others wait there that are not
// doubted (spool.ready), and a group with a report that cannot be stored, which is looked for there.
func (r *Recorder) keep(ctx context.Context, reports []Report) []bool {
	if len(reports) <= r.direct && r.spool.ready(reports) && r.atOnce(ctx, reports) {
		r.note(func(s *Status) { s.Fault = "" })
		return nil
	}
	kept, err := r.spool.append(reports)
	if len(reports) > r.direct {
		r.rush.Add(1)
	}
	loop.Wake(r.drain)
	refused := uint64(0)
	for _, one := range kept {
		if !one {
			refused++
		}
	}
	if refused == 0 {
		r.note(func(s *Status) { s.Fault = "" })
		return nil
	}
	r.note(func(s *Status) {
		for i, one := range reports {
			if !kept[i] {
				r.refused[one.Org] = true
			}
		}
		s.Fault = ""
		if err != nil {
			s.Refused.Disk += refused
		} else {
			s.Refused.Spool += refused
			err = errSpoolFull
		}
		if int(refused) == len(reports) { //nolint:gosec // few
			s.Fault = err.Error()
		}
	})
	if n, ok := r.seldom.due(r.pace.Now()); ok {
		r.cfg.Logger.Error("accounting is not durable, routers will repeat it", slog.String("error", err.Error()),
			slog.Uint64("reports", refused), slog.Int("times", n))
	}
	return kept
}

// commit writes reports to the database. It fails when the database is away or does not answer within the patience,
// and, as away tells apart, when one of the reports cannot be stored.
func (r *Recorder) commit(ctx context.Context, reports []Report, patience time.Duration) error {
	r.step("before commit")
	err := r.try(ctx, reports, patience)
	r.step("committed")
	r.waits(err, len(reports))
	return err
}

// waits tells the log when an error of a commit says that the database is away.
func (r *Recorder) waits(err error, reports int) {
	if err != nil && away(err) {
		r.cfg.Logger.Warn("accounting waits for the database", slog.String("error", err.Error()),
			slog.Int("reports", reports))
	}
}

// doubtful is an organization whose reports have to be taken apart from those of others for a while.
type doubtful struct {
	org    id.Organization
	within time.Duration
}

// commitByTurns writes reports of several organizations to the database. It gives those of which a report cannot be
// stored, or whose restarts of routers end too much; their reports have to be taken apart, so that looking for it costs
// the others nothing. After an error some reports are written, and some organizations are not known yet. It gives the
// one whose reports are alone in taking too long.
func (r *Recorder) commitByTurns(ctx context.Context, reports []Report) (apart []doubtful, err error) {
	err = r.commit(ctx, reports, r.spoolPatience)
	if err == nil {
		return nil, nil
	}
	alone := ofOne(reports)
	switch {
	case alone && errors.Is(err, errManyEnd):
		return []doubtful{{reports[0].Org, 0}}, nil
	case alone && !away(err):
		return []doubtful{{reports[0].Org, doubtFor}}, nil
	case alone && ofSome(err):
		return []doubtful{{reports[0].Org, doubtFor}}, err
	case away(err):
		return nil, err
	}
	second := map[id.Organization]bool{} // whether an organization is in the second half of them
	var orgs []id.Organization
	for _, one := range reports {
		if _, known := second[one.Org]; !known {
			second[one.Org], orgs = false, append(orgs, one.Org)
		}
	}
	for _, org := range orgs[len(orgs)/2:] {
		second[org] = true
	}
	var halves [2][]Report
	for _, one := range reports {
		half := 0
		if second[one.Org] {
			half = 1
		}
		halves[half] = append(halves[half], one)
	}
	for _, half := range halves {
		more, err := r.commitByTurns(ctx, half)
		if apart = append(apart, more...); err != nil {
			return apart, err
		}
	}
	return apart, nil
}

// catchUp takes the reports of the spool until there are none.
func (r *Recorder) catchUp(ctx context.Context) {
	pause := loop.Backoff{Min: 200 * time.Millisecond, Max: 5 * time.Second}
	for gently := true; !r.spool.empty() && ctx.Err() == nil; {
		rush, began, most := r.rush.Load(), r.pace.Now(), groupSize
		if gently {
			most = smallGroup
		}
		if err := r.takeGroup(ctx, most); err == nil {
			pause.Reset()
			if gently = r.rush.Load() != rush && r.early(); gently {
				r.rest(ctx, nil, min(max(0, giveWay*r.pace.Now().Sub(began)), mostGiveWay))
			}
		} else {
			r.rest(ctx, nil, pause.Next())
		}
	}
}

// early reports whether so little waits in the spool, and for so short a time, that what takes it may give way to
// routers that wait for answers. The auditor trusts the tables yet. What organizations have there that are doubted does
// not count.
func (r *Recorder) early() bool {
	since, octets := r.spool.backlog()
	return (since.IsZero() || r.pace.Now().Sub(since) < earlyFor) && octets < r.cfg.SpoolLimit/earlyShare
}

// takeGroup commits about so many reports of the spool at most, and forgets them.
func (r *Recorder) takeGroup(ctx context.Context, most int) error {
	l, err := r.spool.next(min(most, r.spoolGroup))
	if err != nil {
		return r.spoolFault(err)
	}
	switch {
	case l.try.IsZero() && l.stretches == 0: // all who wait were put off
		r.rest(ctx, r.drain, firstPutOff) // others may come meanwhile
		return nil
	case l.try.IsZero():
		return r.take(ctx, l)
	}
	return r.takeApart(ctx, l.try, l.reports)
}

// take commits reports of organizations that are not doubted, and puts those of the others aside. A database can be too
// slow for a group: after a time-out the next group has half of the reports, and after a success an eighth more. Where
// one organization's are too much by themselves, it is put aside, too.
func (r *Recorder) take(ctx context.Context, l lot) error {
	if len(l.reports) > 0 {
		began := r.pace.Now()
		apart, err := r.commitByTurns(ctx, l.reports)
		for _, one := range apart {
			l.stretches = r.spool.putAside(one.org, one.within, l.stretches)
		}
		if err == nil || len(apart) > 0 {
			r.spool.used(len(apart) > 0, r.pace.Now().Sub(began)) // to look for them is at their expense
		}
		if err != nil {
			if ofSome(err) {
				r.spoolGroup = max(len(l.reports)/2, 1)
			}
			return err
		}
		r.spoolGroup = min(r.spoolGroup+r.spoolGroup/8+1, groupSize)
	}
	r.step("caught up")
	if err := r.spool.taken(l.stretches); err != nil {
		return r.spoolFault(err)
	}
	r.step("taken")
	return nil
}

// takeApart commits a try of an organization that is doubted. A report whose values cannot be stored is dropped when it
// is alone: repeats of it would end in the same way. What fails for another reason is tried again, now and then, while
// the others go on. A restart of a router with very many sessions has several turns.
func (r *Recorder) takeApart(ctx context.Context, org id.Organization, reports []Report) error {
	if len(reports) > 0 { // else none of them can be read
		began := r.pace.Now()
		err := r.commitApart(ctx, reports)
		if err != nil && len(reports) == 1 && ofValues(err) {
			err = r.commitAfterPlain(ctx, reports, err)
		}
		r.spool.used(true, r.pace.Now().Sub(began))
		if errors.Is(err, errManyEnd) {
			return nil
		}
		if err != nil {
			defer r.spool.failed(org, len(reports))
		}
		switch {
		case err == nil:
		case !ofValues(err):
			r.putOff(org, err)
			return nil
		case len(reports) > 1:
			return nil
		default:
			r.drop(reports[0], err)
		}
	}
	r.step("caught up")
	if err := r.spool.done(org, len(reports)); err != nil {
		return r.spoolFault(err)
	}
	r.step("taken")
	return nil
}

// commitAfterPlain commits a try of one report again, whose values could not be stored, as it seems. A server that
// takes no reports at all can say the same of each, so plain ones in its place are tried first: when those fail, too,
// the error is not of its values.
func (r *Recorder) commitAfterPlain(ctx context.Context, reports []Report, failed error) error {
	limited, cancel := context.WithTimeout(ctx, r.spoolPatience)
	defer cancel()
	err := loop.Try(func() error { return r.cfg.Store.takesPlain(limited, r.cfg.Directory, reports[0]) })
	switch {
	case err == nil:
		return r.commitApart(ctx, reports)
	case away(err):
		r.waits(err, 1)
		return err
	}
	r.panicked(reports[0].Org, err)
	return &ofTables{fmt.Errorf("%w; plain reports are not taken either: %s", failed, err.Error())}
}

// putOff lets an organization wait, and tells the log why: that it alone waits, once, and now and then what the
// database says, or has, that stays so until somebody mends it.
func (r *Recorder) putOff(org id.Organization, why error) {
	attrs := []any{slog.String("error", why.Error()), slog.String("org_id", org.String())}
	if r.spool.putOff(org) {
		r.cfg.Logger.Warn("accounting of one organization is put aside", attrs...)
		return
	}
	if away(why) || loop.StackOf(why) != "" { // which is told already
		return
	}
	if n, ok := r.stuck.due(r.pace.Now()); ok {
		r.cfg.Logger.Warn("accounting of an organization waits", append(attrs, slog.Int("times", n))...)
	}
}

// commitApart commits a try. A restart of a router, which is alone, first ends a part of what the router had; as long
// as that may not be all it fails with errManyEnd.
func (r *Recorder) commitApart(ctx context.Context, reports []Report) error {
	if reports[0].restarts() {
		limited, cancel := context.WithTimeout(ctx, r.spoolPatience)
		defer cancel()
		all, err := r.cfg.Store.CloseRestarted(limited, reports[0])
		r.step("closed")
		switch {
		case err != nil:
			r.waits(err, 1)
			return err
		case !all:
			return errManyEnd
		}
	}
	return r.commit(ctx, reports, r.spoolPatience)
}

// spoolFault tells the log that the spool cannot be read or written.
func (r *Recorder) spoolFault(err error) error {
	r.cfg.Logger.Error("accounting spool", slog.String("error", err.Error()))
	return err
}

// drop counts a report that cannot be stored.
func (r *Recorder) drop(report Report, why error) {
	r.note(func(s *Status) { s.Dropped++ })
	if n, ok := r.unfit.due(r.pace.Now()); ok {
		r.cfg.Logger.Error("accounting report dropped", slog.String("error", why.Error()),
			slog.String("device_id", report.Device.String()), slog.Int("times", n))
	}
}

// try commits reports within the patience.
func (r *Recorder) try(ctx context.Context, reports []Report, patience time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if r.jumps != nil {
		r.jumps.Look()
	}
	var done Committed
	err := loop.Try(func() (err error) {
		done, err = r.cfg.Store.Commit(limited, r.cfg.Directory, reports)
		return err
	})
	if err != nil {
		r.panicked(soleOf(reports), err)
		if cause := limited.Err(); cause != nil && !errors.Is(err, cause) { // the connection was closed by it
			err = errors.Join(err, cause)
		}
		return err
	}
	lose(r, done.Crowded, loss{
		&r.status.Crowded, &r.crowded,
		"sessions of a router are not kept, because there are as many as may be", "device_id",
	})
	lose(r, done.Odd, loss{&r.status.Odd, &r.odd, "counters of a router are lower than before", "device_id"})
	lose(r, done.Thinned, loss{
		&r.status.Thinned, &r.thinned,
		"the shortest sessions of a subscription are not kept, because many began today", "subscription_id",
	})
	if r.cfg.Live != nil {
		r.guard(soleOf(reports), func() { r.cfg.Live.Observe(done) })
	}
	if len(done.Used) > 0 && r.cfg.Used != nil {
		r.guard(soleOf(reports), func() { r.cfg.Used(done.Used) })
	}
	for _, report := range reports {
		if report.Kind == Start {
			r.guard(report.Org, func() { r.cfg.Began(report) })
		}
	}
	return nil
}

// guard calls what follows from reports that are kept, of an organization, or zero. When it panics they stay so.
func (r *Recorder) guard(org id.Organization, follow func()) {
	r.panicked(org, loop.Try(func() error {
		follow()
		return nil
	}))
}

// panicked tells the log of an error that is a panic. It is the program's fault, which only some reports show: of the
// organization that the error names, else of a given one; zero = it is not known.
func (r *Recorder) panicked(org id.Organization, err error) {
	stack := loop.StackOf(err)
	if stack == "" {
		return
	}
	r.mu.Lock()
	times, due := r.panics.due(r.pace.Now())
	r.mu.Unlock()
	if !due {
		return
	}
	attrs := []any{slog.String("error", err.Error()), slog.String("stack", stack), slog.Int("times", times)}
	var fold *foldPanic
	if errors.As(err, &fold) {
		org = fold.org
	}
	if !org.IsZero() {
		attrs = append(attrs, slog.String("org_id", org.String()))
	}
	r.cfg.Logger.Error("accounting panicked", attrs...)
}

// ofOne reports whether some reports are all of one organization.
func ofOne(reports []Report) bool {
	return !slices.ContainsFunc(reports, func(one Report) bool { return one.Org != reports[0].Org })
}

// soleOf gives the organization that all of some reports are of; zero when there are several.
func soleOf(reports []Report) (org id.Organization) {
	if ofOne(reports) {
		org = reports[0].Org
	}
	return org
}

// loss is a way in which sessions are not kept.
type loss struct {
	total *uint64 // of the status
	lines *seldom
	text  string // of the log
	name  string // of the id in it
}

// lose counts what was not kept of each router or subscription, and warns about one of them.
func lose[K interface {
	comparable
	fmt.Stringer
}](r *Recorder, sessions map[K]int, l loss) {
	for of, n := range sessions {
		r.mu.Lock()
		*l.total += uint64(n) //nolint:gosec // a count
		times, warn := l.lines.due(r.pace.Now())
		r.mu.Unlock()
		if warn {
			r.cfg.Logger.Warn(l.text, slog.String(l.name, of.String()), slog.Int("times", times))
		}
	}
}

// seldomPause is the least time between two lines of the log about the same.
const seldomPause = 10 * time.Second

// seldom bounds the lines of the log about something that can happen often. For one goroutine.
type seldom struct {
	last  time.Time
	times int // since then
}

// due reports whether a line may be written at an instant by pace, and of how many times it tells.
func (s *seldom) due(now time.Time) (times int, ok bool) {
	s.times++
	if !s.last.IsZero() && now.Sub(s.last) < seldomPause {
		return 0, false
	}
	times, s.times, s.last = s.times, 0, now
	return times, true
}
