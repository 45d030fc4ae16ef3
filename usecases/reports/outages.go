package reportscases

import (
	"cmp"
	"context"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/outages"
)

// shownOutages bounds the outages of a report; those that last longest are left out, and all are in GET /outages.
const shownOutages = 100

// lasting are the outages that last, as faults. A router that is down in one of them is no fault beside it.
type lasting struct {
	faults []Fault
	of     map[id.Device]int // the place in faults
}

// outages reads the outages that last, with the customers of each.
func (r reading) outages(ctx context.Context) (out lasting, err error) {
	rows, err := outagesviews.OutagesQuery{Views: r.Views}.List(ctx, r.org,
		outagesviews.OutageFilter{Lasting: new(true)}, outagesviews.OutageKey{}, shownOutages)
	if err != nil || len(rows) == 0 {
		return out, err
	}
	names, err := r.placeNames(ctx, rows)
	if err != nil {
		return out, err
	}
	out.of = map[id.Device]int{}
	for i, row := range rows {
		name := names(row)
		f := Fault{
			Kind: Outage, Root: Root{RootOutage, row.ID.String(), name}, Since: row.StartedAt,
			Message: "There is an outage: " + name + ".",
		}
		customers, err := r.Hit(ctx, row)
		switch {
		case err == nil:
			f.Customers = &customers
		case failure.KindOf(err) != failure.Unavailable: // the log is away: how many is not known now
			return out, err
		}
		out.faults = append(out.faults, f)
		for _, d := range row.Devices {
			if !row.Downs.IsDown(d) { // it is back, or heard: a fault by itself, should it not answer
				continue
			}
			if _, taken := out.of[d]; !taken {
				out.of[d] = i
			}
		}
	}
	return out, nil
}

// placeNames names outages: by the title that somebody gave, or by the place.
func (r reading) placeNames(
	ctx context.Context, rows []outagesviews.OutageRow,
) (func(outagesviews.OutageRow) string, error) {
	var devices []id.Device
	var services []id.Service
	for _, row := range rows {
		if !row.ServiceID.IsZero() {
			services = append(services, row.ServiceID)
		}
		if !row.DeviceID.IsZero() {
			devices = append(devices, row.DeviceID)
		}
	}
	places, err := networkviews.ServicesQuery{Views: r.Views}.Places(ctx, r.org, services)
	if err != nil {
		return nil, err
	}
	for _, s := range places {
		devices = append(devices, s.DeviceID)
	}
	names, err := networkviews.DevicesQuery{Views: r.Views}.Names(ctx, r.org, devices)
	return func(row outagesviews.OutageRow) string {
		of := cmp.Or(row.Title, names[row.DeviceID], row.Tag)
		if s, ok := places[row.ServiceID]; ok {
			of = cmp.Or(row.Title, s.Type+" on "+s.Parent+", "+names[s.DeviceID])
		}
		return of
	}, err
}

// has makes a router that is down, with all that follows from it, a part of its outage. False: it is in none.
func (l lasting) has(d id.Device, down Fault) bool {
	at, ok := l.of[d]
	if !ok {
		return false
	}
	f := &l.faults[at]
	f.add(RouterDown)
	f.Words = cmp.Or(f.Words, down.Words)
	for _, e := range down.Effects {
		i := slices.IndexFunc(f.Effects, func(have Effect) bool { return have.Kind == e.Kind })
		if i < 0 {
			f.Effects = append(f.Effects, e)
		} else {
			f.Effects[i].Count += e.Count
		}
	}
	return true
}

// compensationsFor is for how many days Home tells of compensations that failed for some customers.
const compensationsFor = 14

// compensations counts those that need a look.
func (r reading) compensations(ctx context.Context) (err error) {
	q, c := outagesviews.CompensationsQuery{Views: r.Views}, &r.out.Compensations
	if c.Applying, err = q.Count(ctx, r.org, outagesviews.CompensationFilter{
		State: outagesviews.CompensationApplying,
	}); err != nil {
		return err
	}
	c.FailedFrom = r.out.Date.AddDays(-compensationsFor)
	c.Failed, err = q.Count(ctx, r.org, outagesviews.CompensationFilter{
		State: outagesviews.CompensationFinished, Failed: new(true), From: c.FailedFrom.Start(r.out.Zone),
	})
	return err
}
