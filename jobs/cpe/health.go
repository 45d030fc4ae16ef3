package cpejobs

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// healthPaths name what the health provision has read, in both data models. Source:
// docs/rules/cpe.md#standard-provisions.
func healthPaths() []string {
	var paths []string
	for _, root := range []genieacs.Root{genieacs.TR181, genieacs.TR098} {
		t := genieacs.TreeOf(root)
		paths = append(paths, t.MemoryTotal, t.MemoryFree, t.CPU, t.BytesSent, t.BytesReceived)
		paths = append(paths, t.Clients()...)
	}
	return paths
}

// healthOf reads what devices of the server said of themselves, and when. One that has not told its uptime is left out.
func healthOf(devices map[id.CPE]genieacs.Device, now time.Time) map[id.CPE]cpeviews.Health {
	all := make(map[id.CPE]cpeviews.Health, len(devices))
	for cpe, d := range devices {
		tree := genieacs.TreeOf(d.Root)
		up := d.Values[tree.UpTime]
		if up.At.IsZero() {
			continue
		}
		said := func(path string, unit, most int64) *int64 { return counted(d.Values[path], unit, most) }
		h := cpeviews.Health{
			At: up.At, UpTime: counted(up, 1, maxCount), CPU: said(tree.CPU, 1, 100),
			MemoryTotal: said(tree.MemoryTotal, kibibyte, maxCount),
			MemoryFree:  said(tree.MemoryFree, kibibyte, maxCount),
			BytesSent:   said(tree.BytesSent, 1, maxCount), BytesReceived: said(tree.BytesReceived, 1, maxCount),
		}
		if h.At.After(now) { // the server has a clock of its own
			h.At = now
		}
		for _, path := range tree.Clients() {
			if n := said(path, 1, maxCount); n != nil {
				if h.WifiClients == nil {
					h.WifiClients = new(int64)
				}
				*h.WifiClients += *n
			}
		}
		all[cpe] = h
	}
	return all
}

// Devices count memory in kibibytes. Numbers above the largest count are nonsense.
const (
	kibibyte = 1 << 10
	maxCount = 1 << 50
)

// counted reads a number from 0 to most in a unit; nil for everything else.
func counted(v genieacs.Value, unit, most int64) *int64 {
	n, err := strconv.ParseInt(v.Text(), 10, 64)
	if err != nil || n < 0 || n > most {
		return nil
	}
	n *= unit
	return &n
}

// Statements. What is older than that which is kept is from a reading that overlaps the one before; what is much newer
// is from before the clock was put back.
const (
	keepHealthSQL = `
insert into {schema}.health as h (cpe_id, at, uptime, memory_total, memory_free, cpu, bytes_sent, bytes_received,
	wifi_clients)
select * from unnest(@cpes::uuid[], @at::timestamptz[], @uptime::bigint[], @memory_total::bigint[],
	@memory_free::bigint[], @cpu::bigint[], @bytes_sent::bigint[], @bytes_received::bigint[], @wifi_clients::bigint[])
on conflict (cpe_id) do update set at = excluded.at, uptime = excluded.uptime, memory_total = excluded.memory_total,
	memory_free = excluded.memory_free, cpu = excluded.cpu, bytes_sent = excluded.bytes_sent,
	bytes_received = excluded.bytes_received, wifi_clients = excluded.wifi_clients
where h.at <= excluded.at or h.at > excluded.at + interval '10 minutes'`
	healthSQL = `select cpe_id, at, uptime, memory_total, memory_free, cpu, bytes_sent, bytes_received, wifi_clients
from {schema}.health where cpe_id = any($1)`
)

// KeepHealth keeps what some CPEs said of themselves.
func (i *Informs) KeepHealth(ctx context.Context, all map[id.CPE]cpeviews.Health) error {
	if len(all) == 0 {
		return nil
	}
	var cpes []id.CPE
	var at []time.Time
	columns := map[string][]*int64{}
	for cpe, h := range all {
		cpes, at = append(cpes, cpe), append(at, h.At)
		for name, n := range map[string]*int64{
			"uptime": h.UpTime, "memory_total": h.MemoryTotal, "memory_free": h.MemoryFree, "cpu": h.CPU,
			"bytes_sent": h.BytesSent, "bytes_received": h.BytesReceived, "wifi_clients": h.WifiClients,
		} {
			columns[name] = append(columns[name], n)
		}
	}
	args := pgx.NamedArgs{"cpes": cpes, "at": at}
	for name, list := range columns {
		args[name] = list
	}
	if _, err := i.db.Owner.Exec(ctx, i.sql(keepHealthSQL), args); err != nil {
		return fmt.Errorf("keep the health of cpes: %w", err)
	}
	return nil
}

// Health tells what some CPEs said of themselves last; one that has said nothing is left out.
func (i *Informs) Health(ctx context.Context, cpes []id.CPE) (map[id.CPE]cpeviews.Health, error) {
	type row struct {
		CPE id.CPE `db:"cpe_id"`
		cpeviews.Health
	}
	rows, err := i.db.Owner.Query(ctx, i.sql(healthSQL), cpes)
	if err != nil {
		return nil, fmt.Errorf("read the health of cpes: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
	if err != nil {
		return nil, fmt.Errorf("read the health of cpes: %w", err)
	}
	all := make(map[id.CPE]cpeviews.Health, len(list))
	for _, r := range list {
		all[r.CPE] = r.Health
	}
	return all, nil
}
