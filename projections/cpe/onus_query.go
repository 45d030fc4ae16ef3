package cpeviews

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// OnuRow is the optical end of a CPE.
type OnuRow struct {
	ID         id.CPEOnu `db:"onu_id"`
	OrgSlug    string    `db:"org_slug"`
	OLT        string    `db:"olt"`
	Port       string    `db:"port"`
	Serial     string    `db:"serial"`
	VLAN       int       `db:"vlan"`
	Registered bool      `db:"registered"`
}

// Onu returns the ONU of a CPE of an organization; nil when the terminal has none.
func (q OperationsQuery) Onu(ctx context.Context, org id.Organization, cpe id.CPE) (*OnuRow, error) {
	return q.latestOnu(ctx, org, cpe, true)
}

// AskedOnu returns the ONU of a CPE that was asked for last, also one that the terminal does not have; nil when none
// was.
func (q OperationsQuery) AskedOnu(ctx context.Context, org id.Organization, cpe id.CPE) (*OnuRow, error) {
	return q.latestOnu(ctx, org, cpe, false)
}

// latestOnu returns the ONU that was asked for last, of all or of the registered ones.
func (q OperationsQuery) latestOnu(
	ctx context.Context, org id.Organization, cpe id.CPE, registered bool,
) (*OnuRow, error) {
	var row *OnuRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[OnuRow], q.Views.SQL(OperationsName, `
			select onu_id, org_slug, olt, port, serial, vlan, registered from {schema}.onus
			where org_id = $1 and cpe_id = $2 and (registered or not $3) order by asked_at desc limit 1`),
			org, cpe, registered)
	})
	return row, err
}
