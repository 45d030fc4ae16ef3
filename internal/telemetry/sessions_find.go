package telemetry

import (
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// The newest session of the first device of an organization in a range of MACs, which begins between the two parts.
const (
	firstMAC = `(select x.id, x.mac from {schema}.sessions x
	where x.org_id = @org and x.mac <> '' and not x.address_only and x.mac collate "C" `
	newestOfIt = ` and x.mac collate "C" < @mac_to
	order by x.mac collate "C", x.started_at desc limit 1)`
)

// findMACsSQL goes from device to device, so that many sessions of one cost no more than one.
const findMACsSQL = `with recursive found (id, mac, n) as (
	select f.*, 1 from ` + firstMAC + `>= @mac` + newestOfIt + ` f
	union all
	select f.id, f.mac, found.n + 1 from found
	cross join lateral ` + firstMAC + `> found.mac` + newestOfIt + ` f where found.n < @max)
select ` + columns + ` from {schema}.sessions x where x.id = any(array(select id from found))
order by x.mac collate "C"`

// findIPSQL finds the sessions that have an address at present.
const findIPSQL = `select ` + columns + ` from {schema}.sessions x where x.org_id = @org and not x.address_only
	and x.ended_at is null and x.id in (select a.session_id from {schema}.addresses a where a.org_id = @org
		and a.address = any(@nets::text[]::cidr[]) and a.until_at is null)
order by x.started_at desc, x.id desc limit @max`

// Find queues a search for sessions of an organization: the newest session of each of up to max devices whose MAC
// begins with one in the form of searchterm.MAC, and up to max open sessions with an address. An empty MAC and a zero
// address find nothing.
func (s *Store) Find(r *postgres.Reads, f SessionSearch, max int) {
	if f.MAC != "" {
		postgres.Collect(r, f.ByMAC, pgx.RowToStructByName[Session], s.text(findMACsSQL), pgx.NamedArgs{
			"org": f.Org.UUID(), "mac": f.MAC, "mac_to": searchterm.End(f.MAC), "max": max,
		})
	}
	if f.IP.IsValid() {
		postgres.Collect(r, f.ByIP, pgx.RowToStructByName[Session], s.text(findIPSQL), pgx.NamedArgs{
			"org": f.Org.UUID(), "nets": netsOf(f.IP), "max": max,
		})
	}
}

// SessionSearch says what Find looks for, and where it puts what it has found.
type SessionSearch struct {
	Org         id.Organization
	MAC         string
	IP          netip.Addr
	ByMAC, ByIP *[]Session
}
