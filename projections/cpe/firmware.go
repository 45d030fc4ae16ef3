package cpeviews

import (
	"context"
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// FirmwareName keys the projection's checkpoint and schemas, so it never changes.
const FirmwareName = "cpe_firmware"

// Firmware lists the files of firmware of organizations, without their bytes.
type Firmware struct{}

// firmwareDDL is compiled in from firmware.sql.
//
//go:embed firmware.sql
var firmwareDDL string

// Name keys checkpoint and schemas.
func (Firmware) Name() string { return FirmwareName }

// Version must grow with every change to the tables or to Apply.
func (Firmware) Version() int { return 2 }

// DDL creates the table of firmware.sql.
func (Firmware) DDL() string { return firmwareDDL }

// TenantTables are under row-level security.
func (Firmware) TenantTables() []string { return []string{"files"} }

// Handles lists the events that change the table.
func (Firmware) Handles() []string {
	return []string{
		events.CpeFirmwareBegun{}.EventType(), events.CpeFirmwareStored{}.EventType(),
		events.CpeFirmwareRemoved{}.EventType(), events.CpeFirmwareDeleted{}.EventType(),
	}
}

// States of a file. One that is deleted stays for what has loaded it.
const (
	FirmwareUploading = "uploading" // its bytes are on their way to the CPE server, or were lost on it
	FirmwareStored    = "stored"
	FirmwareRemoving  = "removing" // the CPE server may still have it
	firmwareDeleted   = "deleted"
)

// FirmwareStates are the values of FirmwareRow.State that are shown.
func FirmwareStates() []string { return []string{FirmwareUploading, FirmwareStored, FirmwareRemoving} }

// Statements of Apply. An event that was applied before changes nothing.
const (
	storedSQL = `
insert into {schema}.files as f (firmware_id, org_id, filename, oui, product_class, version, bytes, sha256, stored_as,
	state, stored_at, actor_kind, actor_id, revision)
values (@firmware, @org, @filename, @oui, @class, @version, @bytes, @sha256, @stored_as, @state, @at, @actor_kind,
	@actor_id, @revision)
on conflict (firmware_id) do update set oui = excluded.oui, product_class = excluded.product_class,
	version = excluded.version, bytes = excluded.bytes, sha256 = excluded.sha256, stored_as = excluded.stored_as,
	state = excluded.state, stored_at = excluded.stored_at, actor_kind = excluded.actor_kind,
	actor_id = excluded.actor_id, revision = excluded.revision
where f.revision < excluded.revision`
	firmwareStateSQL = `
update {schema}.files set state = $2, revision = $3 where firmware_id = $1 and revision < $3`
)

// Apply queues the statement for one event.
func (Firmware) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // fits
	switch v := e.Event.(type) {
	case events.CpeFirmwareBegun:
		stored := events.CpeFirmwareStored{
			FirmwareID: v.FirmwareID, OrgID: v.OrgID, File: v.File, StoredAs: v.StoredAs, At: v.At,
		}
		w.Exec(storedSQL, firmwareArgs(e, stored, FirmwareUploading, revision))
	case events.CpeFirmwareStored:
		w.Exec(storedSQL, firmwareArgs(e, v, FirmwareStored, revision))
	case events.CpeFirmwareRemoved:
		w.Exec(firmwareStateSQL, v.FirmwareID, FirmwareRemoving, revision)
	case events.CpeFirmwareDeleted:
		w.Exec(firmwareStateSQL, v.FirmwareID, firmwareDeleted, revision)
	}
	return nil
}

// firmwareArgs are those of storedSQL.
func firmwareArgs(e events.Envelope, v events.CpeFirmwareStored, state string, revision int64) pgx.NamedArgs {
	return pgx.NamedArgs{
		"firmware": v.FirmwareID, "org": v.OrgID, "filename": v.File.Filename, "oui": v.File.OUI,
		"class": v.File.ProductClass, "version": v.File.Version, "bytes": v.File.Bytes, "sha256": v.File.SHA256,
		"stored_as": v.StoredAs, "state": state, "at": v.At, "actor_kind": string(e.Meta.Actor.Kind),
		"actor_id": e.Meta.Actor.ID, "revision": revision,
	}
}

// FirmwareRow is one file of firmware.
type FirmwareRow struct {
	ID           id.CPEFirmware `db:"firmware_id"`
	Filename     string         `db:"filename"`
	OUI          string         `db:"oui"`
	ProductClass string         `db:"product_class"`
	Version      string         `db:"version"`
	Bytes        int64          `db:"bytes"`
	SHA256       string         `db:"sha256"`
	StoredAs     string         `db:"stored_as"`
	State        string         `db:"state"` // one of FirmwareStates, or deleted
	StoredAt     time.Time      `db:"stored_at"`
	ActorKind    string         `db:"actor_kind"`
	ActorID      string         `db:"actor_id"`
}

// FirmwareKey is a row's place in the list, newest first. The zero value starts at the newest row.
type FirmwareKey struct {
	At time.Time      `json:"a"`
	ID id.CPEFirmware `json:"i"`
}

// Key makes the next page begin after this row.
func (r FirmwareRow) Key() FirmwareKey { return FirmwareKey{At: r.StoredAt, ID: r.ID} }

// FirmwareQuery serves files of firmware.
type FirmwareQuery struct{ Views *runner.Views }

// firmwareSelect fits FirmwareRow; a condition follows.
const firmwareSelect = `select firmware_id, filename, oui, product_class, version, bytes, sha256, stored_as, state,
	stored_at, actor_kind, actor_id from {schema}.files where org_id = @org `

// Get returns a file of an organization, also one that is deleted; nil when it never had one with this id.
func (q FirmwareQuery) Get(ctx context.Context, org id.Organization, file id.CPEFirmware) (*FirmwareRow, error) {
	var row *FirmwareRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[FirmwareRow],
			q.Views.SQL(FirmwareName, firmwareSelect+`and firmware_id = @file`),
			pgx.NamedArgs{"org": org, "file": file})
	})
	return row, err
}

// List returns up to max files of an organization after a key, newest first.
func (q FirmwareQuery) List(
	ctx context.Context, org id.Organization, after FirmwareKey, max int,
) ([]FirmwareRow, error) {
	var rows []FirmwareRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[FirmwareRow], q.Views.SQL(FirmwareName, firmwareSelect+`
			and state <> 'deleted'
			and (@at::timestamptz is null or (stored_at, firmware_id) < (@at::timestamptz, @id::uuid))
			order by stored_at desc, firmware_id desc limit @max`), pgx.NamedArgs{
			"org": org, "at": null.Time(after.At), "id": after.ID, "max": max,
		})
	})
	return rows, err
}
