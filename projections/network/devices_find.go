package networkviews

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// DeviceFound is a router that a search has found.
type DeviceFound struct {
	ID                id.Device `db:"device_id"`
	Name              string    `db:"name"`
	IPAddress         string    `db:"ip"`
	ManagementAddress string    `db:"management"`
	TunnelAddress     string    `db:"tunnel_address"`
	Reachable         bool      `db:"reachable"`
	// Match says what was found.
	Match searchterm.Match `db:"-"`
}

// findDevicesSQL reads what a search compares. An organization has so few routers that all of them are compared.
const findDevicesSQL = `
select device_id, coalesce(details->>'name', '') as name, coalesce(details->>'ipAddress', '') as ip,
	coalesce(details->>'managementAddress', '') as management, tunnel_address, unreachable_since is null as reachable
from {schema}.devices where org_id = $1 and removed_at is null order by lower(details->>'name'), device_id`

// Find gives up to max routers of an organization whose address begins with a text, or in whose name each word begins a
// word, in the order of their names.
func (q DevicesQuery) Find(ctx context.Context, org id.Organization, text string, max int) ([]DeviceFound, error) {
	var rows []DeviceFound
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[DeviceFound], q.Views.SQL(DevicesName, findDevicesSQL), org)
	})
	words := searchterm.Typed(text)
	rows = slices.DeleteFunc(rows, func(d DeviceFound) bool { return d.found(text, words).By == "" })
	rows = rows[:min(len(rows), max)]
	for i := range rows {
		rows[i].Match = rows[i].found(text, words)
	}
	return rows, err
}

// found says what of a router a search has found; it is zero for one that does not fit.
func (d DeviceFound) found(text string, words []string) searchterm.Match {
	if begin, whole := searchterm.Begin(words, searchterm.Words(d.Name)); begin {
		return searchterm.Match{By: "name", Whole: whole}
	}
	for _, address := range []string{d.IPAddress, d.ManagementAddress, d.TunnelAddress} {
		if text = strings.ToLower(strings.TrimSpace(text)); text != "" && strings.HasPrefix(address, text) {
			return searchterm.Match{By: "ip", Whole: address == text}
		}
	}
	return searchterm.Match{}
}
