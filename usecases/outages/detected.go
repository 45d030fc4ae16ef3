package outagescases

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/outages"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/usecases"
)

// tellAfter is how long an outage that the platform has noticed lasts before customers are told by itself; negative
// when that waits for a person.
func tellAfter(rules events.OutageRules) time.Duration {
	if !rules.Tell {
		return -1
	}
	return time.Duration(rules.AfterMinutes) * time.Minute
}

// heardFor is how long the reports of a router tell that customers are served there.
const heardFor = telemetry.SilentAfter

// detectedLimit is how old the sight of routers that are down may be when something is done about it.
const detectedLimit = 5 * time.Minute

// Detected begins an outage of routers that do not answer, unless that is long ago. Routers that go on reporting about
// their customers make none, one router behind which nobody is off makes none, nor does an organization that does not
// want it. Another outage of the same router that lasts is no failure.
func (u Outages) Detected(ctx context.Context, args commands.BeginDetectedOutage, meta commands.Meta) error {
	if u.Clock.Now().Sub(args.At) > detectedLimit {
		return nil
	}
	rules, err := u.rules(ctx, args.OrgID)
	if err != nil || !rules.Detect {
		return err
	}
	downs, _, err := u.listen(ctx, args.OrgID, seen(args))
	if err != nil || len(downs) == 0 {
		return err
	}
	outage, ended, err := u.unused(ctx, args)
	if err != nil || outage.IsZero() {
		return err
	}
	begin := commands.BeginOutage{
		OutageID: outage, OrgID: args.OrgID, Place: events.NetworkPlace{DeviceID: args.Root}, Downs: downs,
		Detected: true, TellAfter: tellAfter(rules), Absorbs: args.Absorbs,
	}
	for i, d := range downs {
		downs[i] = d.Since(ended)
		begin.Devices = append(begin.Devices, d.DeviceID)
		if begin.StartedAt.IsZero() || downs[i].From.Before(begin.StartedAt) {
			begin.StartedAt = downs[i].From
		}
	}
	if !slices.Contains(begin.Devices, args.Root) {
		begin.Place.DeviceID = begin.Devices[0]
	}
	if len(downs) == 1 {
		at := downs.Until(begin.Devices, events.TimeSpan{To: u.Clock.Now()})
		off, err := u.Places.Count(ctx, args.OrgID, Where{devices: begin.Devices, unheard: true}, at)
		if err != nil || off == 0 {
			return err
		}
	}
	_, err = u.Bus.Execute(ctx, begin, meta)
	return unlessExists(err)
}

// unlessExists is an error, but for that of a place of which an outage lasts already: the next look finds that one.
func unlessExists(err error) error {
	if failure.CodeOf(err) == "outage_exists" {
		return nil
	}
	return err
}

// againAfter is how long an outage is over before another one begins because its routers are still down.
const againAfter = 10 * time.Minute

// unused is the id of the outage that a sight begins, and the end of the one before it in the same failure: somebody
// has ended that one while its routers were down. Zero = one lasts, or has just ended.
func (u Outages) unused(
	ctx context.Context, args commands.BeginDetectedOutage,
) (outage id.Outage, ended time.Time, err error) {
	outage = id.Derive[id.Outage]("outage", args.OrgID.String(), args.Root.String(),
		args.Since.UTC().Format(time.RFC3339Nano))
	for {
		before, err := usecases.WholeOutage(ctx, u.Bus, args.OrgID, outage)
		switch {
		case failure.KindOf(err) == failure.NotFound:
			return outage, ended, nil
		case err != nil, before.Lasts(), u.Clock.Now().Sub(before.OverSince) < againAfter:
			return id.Outage{}, ended, err
		}
		outage, ended = id.Derive[id.Outage]("outage again", outage.String()), before.EndedAt
	}
}

// seen are the routers of a sight, each with the instant since when it is down.
func seen(args commands.BeginDetectedOutage) (list events.RouterDowns) {
	for _, device := range args.Devices {
		if times := args.Downs.Of(device); len(times) > 0 {
			list = append(list, times[0])
			continue
		}
		list = append(list, events.RouterDown{DeviceID: device, From: args.Since})
	}
	return list
}

// listen parts routers that do not answer by what they report about customers: those that are silent, each down since
// its last report when that came after it went away, and when each of the others was heard last. None is silent as long
// as reports could not come, or wait: a later look knows more.
func (u Outages) listen(
	ctx context.Context, org id.Organization, downs events.RouterDowns,
) (silent events.RouterDowns, heard map[id.Device]time.Time, err error) {
	now, since := u.Clock.Now(), map[id.Device]time.Time{}
	went := now
	for _, d := range downs {
		if d.WentAway().Before(went) {
			went = d.WentAway()
		}
		since[d.DeviceID] = now.Add(-heardFor)
		if d.WentAway().Before(since[d.DeviceID]) {
			since[d.DeviceID] = d.WentAway()
		}
	}
	reported, err := u.Places.Sessions.HeardSince(ctx, org, since, now)
	if err != nil {
		return nil, nil, err
	}
	hears, err := u.Hears(ctx, org, went, heardFor)
	if err != nil {
		return nil, nil, err
	}
	heard = map[id.Device]time.Time{}
	for _, d := range downs {
		last, is := reported[d.DeviceID]
		switch {
		case is && now.Sub(last) < heardFor:
			heard[d.DeviceID] = last
		case !hears: // it may have had no chance to report
		case is && last.After(d.From):
			d.From = last // whoever was cut off before a short return of the router may not be on since
			silent = append(silent, d)
		default:
			silent = append(silent, d)
		}
	}
	return silent, heard, nil
}

// Watched brings an outage that lasts up to a sight of routers that do not answer, unless that is long ago: those that
// are silent come to it, and one that was down in it and is heard again has been back since then at the latest.
func (u Outages) Watched(
	ctx context.Context, args commands.WatchOutage, meta func(name string) commands.Meta,
) error {
	if u.Clock.Now().Sub(args.At) > detectedLimit {
		return nil
	}
	outage, _, err := bus.LoadOwned[outages.Outage](ctx, u.Bus, args.OrgID, args.OutageID)
	if err != nil || !outage.Lasts() {
		return err
	}
	silent, heard, err := u.listen(ctx, args.OrgID, args.Downs)
	if err != nil {
		return err
	}
	extend := commands.ExtendOutage{OutageID: outage.ID}
	for _, d := range silent {
		if d.DeviceID == args.Root {
			extend.Root = d.DeviceID
		}
		if !outage.IsDown(d.DeviceID) {
			extend.Devices, extend.Downs = append(extend.Devices, d.DeviceID), append(extend.Downs, d)
		}
	}
	narrow := commands.NarrowOutage{OutageID: outage.ID}
	for _, d := range args.Downs {
		if last, is := heard[d.DeviceID]; is && outage.IsDown(d.DeviceID) && last.After(d.From) {
			narrow.Back = append(narrow.Back, commands.RouterBack{DeviceID: d.DeviceID, At: last})
		}
	}
	if len(extend.Devices) > 0 {
		extend.Absorbs = args.Absorbs
	}
	if len(extend.Devices) > 0 || !extend.Root.IsZero() {
		_, err = u.Bus.Execute(ctx, extend, meta("extend"))
	}
	if err = unlessExists(err); err == nil && len(narrow.Back) > 0 {
		_, err = u.Bus.Execute(ctx, narrow, meta("narrow"))
	}
	return err
}
