package paymentsviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// The flow of an organization's mobile money. Cash says nothing about the provider.
const (
	lastFlowSQL = `
select recorded_at from {schema}.receipts where org_id = $1 and recorded_at <= $2 and channel <> 'cash'
order by recorded_at desc, receipt_id desc limit 1`
	nextFlowSQL = `
select recorded_at from {schema}.receipts where org_id = $1 and recorded_at > $2 and channel <> 'cash'
order by recorded_at, receipt_id limit 1`
	countFlowSQL = `
select count(*) from (select from {schema}.receipts where org_id = $1 and recorded_at >= $2 and recorded_at < $3
	and channel <> 'cash' limit $4) found`
)

// LastMobile is when mobile money of an organization was recorded last, at the latest at an instant; zero = never.
func (q ReceiptsQuery) LastMobile(ctx context.Context, org id.Organization, by time.Time) (time.Time, error) {
	return q.flow(ctx, lastFlowSQL, org, by)
}

// NextMobile is when mobile money of an organization was recorded first after an instant; zero = not yet.
func (q ReceiptsQuery) NextMobile(ctx context.Context, org id.Organization, after time.Time) (time.Time, error) {
	return q.flow(ctx, nextFlowSQL, org, after)
}

// flow reads one instant.
func (q ReceiptsQuery) flow(ctx context.Context, sql string, org id.Organization, at time.Time) (time.Time, error) {
	var found *time.Time
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &found, pgx.RowTo[time.Time], q.Views.SQL(ReceiptsName, sql), org, at)
	})
	if err != nil || found == nil {
		return time.Time{}, err
	}
	return found.UTC(), nil
}

// CountMobile counts the receipts of mobile money of an organization in a time, and stops at most.
func (q ReceiptsQuery) CountMobile(
	ctx context.Context, org id.Organization, from, to time.Time, most int,
) (int, error) {
	var n int
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(ReceiptsName, countFlowSQL), org, from, to, most)
	})
	return n, err
}
