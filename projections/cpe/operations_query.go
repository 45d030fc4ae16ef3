package cpeviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// OperationRow is one write to a CPE.
type OperationRow struct {
	ID           id.CPEOperation       `db:"operation_id"`
	CpeID        id.CPE                `db:"cpe_id"`
	Kind         string                `db:"kind"`
	Names        []string              `db:"names"`
	Written      []string              `db:"written"` // names of what is written, where the device's tree decides
	State        string                `db:"state"`   // one of OperationStates
	Call         *string               `db:"call"`    // "ok", "queued" or "failed"; nil = it was not sent yet
	Tasks        []events.CpeTask      `db:"tasks"`
	Steps        []OnuStep             `db:"steps"` // of the set-up of an ONU
	ErrorCode    *string               `db:"error_code"`
	ErrorMessage *string               `db:"error_message"`
	Result       *events.CpeTestResult `db:"result"` // of a test that has ended; nil = there is none
	AskedAt      time.Time             `db:"asked_at"`
	ExpiresAt    time.Time             `db:"expires_at"`
	SentAt       *time.Time            `db:"sent_at"`
	EndedAt      *time.Time            `db:"ended_at"`
	ActorKind    string                `db:"actor_kind"`
	ActorID      string                `db:"actor_id"`
	Revision     int64                 `db:"revision"`
}

// OperationStates are the values of OperationRow.State.
func OperationStates() []string { return []string{"queued", "sent", "confirmed", "failed", "expired"} }

// OperationKey is a row's place in the list, newest first. The zero value starts at the newest row.
type OperationKey struct {
	At time.Time       `json:"a"`
	ID id.CPEOperation `json:"i"`
}

// Key makes the next page begin after this row.
func (r OperationRow) Key() OperationKey { return OperationKey{At: r.AskedAt, ID: r.ID} }

// OperationsQuery serves writes to CPEs.
type OperationsQuery struct{ Views *runner.Views }

// operationSelect fits OperationRow; a condition follows.
const operationSelect = `select operation_id, cpe_id, kind, names, written, state, call, tasks, steps, error_code,
	error_message, result, asked_at, expires_at, sent_at, ended_at, actor_kind, actor_id, revision
	from {schema}.operations where `

// Get returns an operation of an organization; nil when it has none with this id.
func (q OperationsQuery) Get(
	ctx context.Context, org id.Organization, operation id.CPEOperation,
) (*OperationRow, error) {
	var row *OperationRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[OperationRow],
			q.Views.SQL(OperationsName, operationSelect+`org_id = $1 and operation_id = $2`), org, operation)
	})
	return row, err
}

// Open returns the operations of an organization on a CPE that have not ended, without those of the set-up of an ONU.
func (q OperationsQuery) Open(ctx context.Context, org id.Organization, cpe id.CPE) ([]OperationRow, error) {
	var rows []OperationRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[OperationRow], q.Views.SQL(OperationsName, operationSelect+`
			org_id = $1 and cpe_id = $2 and state in ('queued', 'sent') and kind <> $3
			order by asked_at, operation_id`), org, cpe, string(events.CpeOnuSetUp))
	})
	return rows, err
}

// Waiting counts the operations of an organization on a CPE that have not ended, and those that were asked for since an
// instant and replaced by others.
func (q OperationsQuery) Waiting(
	ctx context.Context, org id.Organization, cpe id.CPE, since time.Time,
) (count int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &count, pgx.RowTo[int], q.Views.SQL(OperationsName, `select (
			select count(*) from {schema}.operations where org_id = @org and cpe_id = @cpe
				and state in ('queued', 'sent') and kind <> @onu
		) + (
			select count(*) from {schema}.operations where org_id = @org and cpe_id = @cpe
				and asked_at > @since and error_code = @replaced
		)`), pgx.NamedArgs{
			"org": org, "cpe": cpe, "onu": string(events.CpeOnuSetUp), "since": since, "replaced": events.CpeReplaced,
		})
	})
	return count, err
}

// Superseded reports whether an operation of the same kind, and on the same networks where somebody has chosen them,
// was asked for on the same CPE after this one, and has not failed.
func (q OperationsQuery) Superseded(
	ctx context.Context, org id.Organization, operation id.CPEOperation,
) (later bool, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &later, pgx.RowTo[bool], q.Views.SQL(OperationsName, `select exists (
			select from {schema}.operations o join {schema}.operations n on n.org_id = o.org_id
				and n.cpe_id = o.cpe_id and n.kind = o.kind and n.names = o.names and n.state <> 'failed'
				and (n.asked_at, n.operation_id) > (o.asked_at, o.operation_id)
			where o.org_id = $1 and o.operation_id = $2)`), org, operation)
	})
	return later, err
}

// LastWifi returns the latest change of the Wi-Fi of each of some CPEs of an organization that a person has asked for.
func (q OperationsQuery) LastWifi(
	ctx context.Context, org id.Organization, by id.User, cpes []id.CPE,
) (map[id.CPE]OperationRow, error) {
	var rows []OperationRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[OperationRow], q.Views.SQL(OperationsName, operationSelect+`
			operation_id in (select distinct on (cpe_id) operation_id from {schema}.operations
				where org_id = @org and cpe_id = any(@cpes) and kind = @kind and actor_kind = @user and actor_id = @by
				order by cpe_id, asked_at desc, operation_id desc)`), pgx.NamedArgs{
			"org": org, "cpes": cpes, "kind": string(events.CpeWifi), "user": string(events.ActorUser),
			"by": by.String(),
		})
	})
	out := make(map[id.CPE]OperationRow, len(rows))
	for _, r := range rows {
		out[r.CpeID] = r
	}
	return out, err
}

// List returns up to max operations of an organization on a CPE after a key, newest first.
func (q OperationsQuery) List(
	ctx context.Context, org id.Organization, cpe id.CPE, after OperationKey, max int,
) ([]OperationRow, error) {
	var rows []OperationRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[OperationRow], q.Views.SQL(OperationsName, operationSelect+`
			org_id = @org and cpe_id = @cpe
			and (@at::timestamptz is null or (asked_at, operation_id) < (@at::timestamptz, @id::uuid))
			order by asked_at desc, operation_id desc limit @max`), pgx.NamedArgs{
			"org": org, "cpe": cpe, "at": null.Time(after.At), "id": after.ID, "max": max,
		})
	})
	return rows, err
}

// Measured returns up to max operations of an organization on a CPE that have a result, the latest first, and apart
// from them the latest of each kind.
func (q OperationsQuery) Measured(
	ctx context.Context, org id.Organization, cpe id.CPE, max int,
) (latest, history []OperationRow, err error) {
	const measured = `org_id = @org and cpe_id = @cpe and result is not null order by `
	args := pgx.NamedArgs{"org": org, "cpe": cpe, "max": max}
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &latest, pgx.RowToStructByName[OperationRow], q.Views.SQL(OperationsName,
			operationSelect+`operation_id in (select distinct on (kind) operation_id from {schema}.operations
			where `+measured+`kind, ended_at desc, operation_id desc)`), args)
		postgres.Collect(r, &history, pgx.RowToStructByName[OperationRow], q.Views.SQL(OperationsName,
			operationSelect+measured+`ended_at desc, operation_id desc limit @max`), args)
	})
	return latest, history, err
}
