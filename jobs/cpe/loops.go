package cpejobs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// What proves that it is a script which never comes to rest, and not a device with which none does. The CPE server
// knows a script a few seconds after it was brought. Source: docs/rules/cpe.md#scripts-that-never-come-to-rest.
const (
	loopDevices = 3 // CPEs of an organization that has as many, or all of one that has fewer
	loopMargin  = time.Minute
	loopAbsence = 24 * time.Hour // after which a CPE that has not called for so long is not waited for
)

// Statements about CPEs on which a script alone kept a session from coming to rest. One counts as long as the CPE
// server has the fault on the script's channel, and shows it to the organization. A row without a channel has the last
// session of a CPE in which one of ours asked the platform, by the server's clock, as long as there are such faults.
const (
	askedSQL = `
insert into {schema}.loops as l (channel, cpe_id, version, at)
select '', s.cpe_id, 0, s.at from unnest($1::uuid[], $2::timestamptz[]) as s (cpe_id, at)
on conflict (channel, cpe_id) do update set at = greatest(l.at, excluded.at)`
	askingSQL = `select cpe_id, at from {schema}.loops where channel = '' and cpe_id = any($1)`
	loopedSQL = `
insert into {schema}.loops as l (channel, cpe_id, version, at)
select * from unnest($1::text[], $2::uuid[], $3::int[], $4::timestamptz[])
on conflict (channel, cpe_id) do update set version = excluded.version, at = excluded.at`
	restedSQL = `
delete from {schema}.loops l where not exists (select from {schema}.faults f where f.cpe_id = l.cpe_id
	and l.channel in ('', f.channel) and f.code = $1 and f.gone_at is null and f.org_id is not null)`
	loopingSQL = `
select distinct on (l.channel, l.cpe_id) l.channel, l.cpe_id, l.version, l.at, f.org_id
from {schema}.loops l join {schema}.faults f on f.cpe_id = l.cpe_id and f.channel = l.channel
where f.code = $1 and f.gone_at is null and f.org_id is not null order by l.channel, l.cpe_id`
)

// looped says that a script alone kept a session of a CPE from coming to rest.
type looped struct {
	Channel string          `db:"channel"`
	CPE     id.CPE          `db:"cpe_id"`
	Version int             `db:"version"`
	At      time.Time       `db:"at"` // of the session, by the platform's clock
	OrgID   id.Organization `db:"org_id"`
}

// waiting leaves those CPEs out on which none of the platform's presets waits: what else waits there was noted before,
// or nobody can say whose fault it is.
func waiting(loops []known) []known {
	waits := map[id.CPE]bool{}
	for _, k := range loops {
		waits[k.cpe.ID] = waits[k.cpe.ID] || ours(k.fault)
	}
	return slices.DeleteFunc(loops, func(k known) bool { return !waits[k.cpe.ID] })
}

// suspects gives of the faults of a CPE those of scripts that alone can have kept the presets of a session from coming
// to rest. Ours do come to rest unless they ask the platform, so it is the only other one; ours are there as long as
// nobody has cleared all faults of the session.
func suspects(list []known) (out []known) {
	others, whole, asks := map[time.Time][]known{}, map[time.Time]bool{}, map[time.Time]bool{}
	for _, k := range list {
		if at := k.fault.At; ours(k.fault) {
			whole[at], asks[at] = true, asks[at] || genieacs.Asks(k.fault.Channel)
		} else {
			others[at] = append(others[at], k)
		}
	}
	for at, group := range others {
		if whole[at] && !asks[at] && len(group) == 1 {
			out = append(out, group[0])
		}
	}
	return out
}

// charged reports whether a session was of the version of a script that its row has now, and the CPE server has the
// script, or may still have it.
func charged(row cpeviews.ProvisionRow, org id.Organization, at time.Time) bool {
	runs := row.State == cpeviews.ProvisionInstalled || loops(row)
	return runs && row.OrgID == org && row.SettledAt != nil && at.After(row.SettledAt.Add(loopMargin))
}

// asking gives of each CPE the last session, by the server's clock, in which one of ours asked the platform.
func asking(loops []known) map[id.CPE]time.Time {
	out := map[id.CPE]time.Time{}
	for _, k := range loops {
		if genieacs.Asks(k.fault.Channel) && k.fault.At.After(out[k.cpe.ID]) {
			out[k.cpe.ID] = k.fault.At
		}
	}
	return out
}

// certainly leaves those faults out that are of a session in which one of ours asked the platform, as far as a reading
// has seen it: the fault of that one may have been cleared before those of the others, by this program or by hand.
func (p Pauses) certainly(ctx context.Context, list []known, asked map[id.CPE]time.Time) ([]known, error) {
	db := p.Informs.db.Owner
	var cpes []id.CPE
	var times []time.Time
	for cpe, at := range asked {
		cpes, times = append(cpes, cpe), append(times, at)
	}
	if _, err := db.Exec(ctx, p.Informs.sql(askedSQL), cpes, times); err != nil {
		return nil, fmt.Errorf("note which cpes asked: %w", err)
	}
	cpes = nil
	for _, k := range list {
		cpes = append(cpes, k.cpe.ID)
	}
	rows, err := db.Query(ctx, p.Informs.sql(askingSQL), cpes)
	if err != nil {
		return nil, fmt.Errorf("read which cpes asked: %w", err)
	}
	last := map[id.CPE]time.Time{}
	var cpe id.CPE
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&cpe, &at}, func() error { last[cpe] = at; return nil }); err != nil {
		return nil, fmt.Errorf("read which cpes asked: %w", err)
	}
	return slices.DeleteFunc(list, func(k known) bool { return !k.fault.At.After(last[k.cpe.ID]) }), nil
}

// witness notes on which CPEs a script alone kept a session from coming to rest, and forgets those on which it has come
// to rest since.
func (p Pauses) witness(ctx context.Context, held [][]known, asked map[id.CPE]time.Time) error {
	db := p.Informs.db.Owner
	if _, err := db.Exec(ctx, p.Informs.sql(restedSQL), genieacs.LoopCode); err != nil {
		return fmt.Errorf("forget loops of cpes: %w", err)
	}
	var list []known
	var names []string
	for _, faults := range held {
		list = append(list, suspects(faults)...)
	}
	list, err := p.certainly(ctx, list, asked)
	if err != nil {
		return err
	}
	for _, k := range list {
		names = append(names, k.fault.Channel)
	}
	slices.Sort(names)
	scripts, err := p.named(ctx, slices.Compact(names))
	if err != nil {
		return err
	}
	type place struct {
		channel string
		cpe     id.CPE
	}
	found := map[place]looped{}
	for _, k := range list {
		for _, row := range scripts[k.fault.Channel] {
			at, happened := place{k.fault.Channel, k.cpe.ID}, k.fault.Happened()
			if charged(row, k.shownTo(), happened) && !happened.Before(found[at].At) {
				found[at] = looped{Version: row.Version, At: happened}
			}
		}
	}
	var channels []string
	var cpes []id.CPE
	var versions []int
	var times []time.Time
	for at, one := range found {
		channels, cpes = append(channels, at.channel), append(cpes, at.cpe)
		versions, times = append(versions, one.Version), append(times, one.At)
	}
	if _, err := db.Exec(ctx, p.Informs.sql(loopedSQL), channels, cpes, versions, times); err != nil {
		return fmt.Errorf("note loops of cpes: %w", err)
	}
	return nil
}

// culprits gives the scripts that have never come to rest on enough CPEs. What fails about one of them hides no other.
func (p Pauses) culprits(ctx context.Context) ([]cpeviews.ProvisionRow, error) {
	found, err := p.Informs.db.Owner.Query(ctx, p.Informs.sql(loopingSQL), genieacs.LoopCode)
	if err != nil {
		return nil, fmt.Errorf("read loops of cpes: %w", err)
	}
	list, err := pgx.CollectRows(found, pgx.RowToStructByName[looped])
	if err != nil {
		return nil, fmt.Errorf("read loops of cpes: %w", err)
	}
	of := map[string][]looped{}
	for _, one := range list {
		of[one.Channel] = append(of[one.Channel], one)
	}
	channels := slices.Sorted(maps.Keys(of))
	scripts, err := p.named(ctx, channels)
	if err != nil {
		return nil, err
	}
	var out []cpeviews.ProvisionRow
	var failed error
	for _, channel := range channels {
		for _, row := range scripts[channel] {
			on := map[id.CPE]bool{}
			for _, one := range of[channel] {
				if one.Version == row.Version && charged(row, one.OrgID, one.At) {
					on[one.CPE] = true
				}
			}
			certain, err := p.certain(ctx, row, on)
			if failed = errors.Join(failed, err); certain {
				out = append(out, row)
			}
		}
	}
	return out, failed
}

// certain reports whether a script that never came to rest on some CPEs does so on others, too: on three of them, or on
// all on which it runs when its organization has fewer. One that was refused before is to be taken away for that.
func (p Pauses) certain(ctx context.Context, row cpeviews.ProvisionRow, on map[id.CPE]bool) (bool, error) {
	if len(on) == 0 || len(on) >= loopDevices || loops(row) {
		return len(on) > 0, nil
	}
	all, err := p.Devices(ctx, row.OrgID, loopDevices)
	if err != nil || len(all) >= loopDevices {
		return false, err
	}
	var others []id.CPE
	for _, cpe := range all {
		if !on[cpe.ID] {
			others = append(others, cpe.ID)
		}
	}
	if len(others) == len(all) { // those on which it happened are not the organization's any more
		return false, nil
	}
	called, err := p.Informs.Latest(ctx, others)
	if err != nil {
		return false, err
	}
	since := p.Informs.clock.Now().Add(-loopAbsence)
	if row.SettledAt.Before(since) {
		since = *row.SettledAt
	}
	for _, at := range called {
		if !at.Before(since) { // it may run the script and come to rest, or is about to
			return false, nil
		}
	}
	return true, nil
}
