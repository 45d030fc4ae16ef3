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

// The values of CampaignRow.State.
const (
	CampaignRunning  = "running"
	CampaignStopped  = "stopped" // too many devices have failed: a person has to look
	CampaignHalted   = "halted"
	CampaignFinished = "finished"
)

// CampaignStates are the values of CampaignRow.State.
func CampaignStates() []string {
	return []string{CampaignRunning, CampaignStopped, CampaignHalted, CampaignFinished}
}

// CampaignDeviceStates are the values of CampaignDeviceRow.State.
func CampaignDeviceStates() []string {
	return []string{"pending", "sent", "succeeded", "failed", "skipped"}
}

// CampaignRow is one deployment of firmware.
type CampaignRow struct {
	ID              id.CPECampaign          `db:"campaign_id"`
	FirmwareID      id.CPEFirmware          `db:"firmware_id"`
	Filename        string                  `db:"filename"`
	Version         string                  `db:"version"`
	Model           string                  `db:"model"`
	State           string                  `db:"state"` // one of CampaignStates
	Matched         int                     `db:"matched"`
	Terms           events.CpeCampaignTerms `db:"terms"`
	StartedAt       time.Time               `db:"started_at"`
	EndedAt         *time.Time              `db:"ended_at"`
	SucceededBefore int                     `db:"succeeded_before"` // when a person let it continue
	FailedBefore    int                     `db:"failed_before"`    // the same
	ActorKind       string                  `db:"actor_kind"`
	ActorID         string                  `db:"actor_id"`
	Revision        int64                   `db:"revision"`
	// The numbers of its devices.
	Pending   int `db:"pending"`
	Sent      int `db:"sent"`
	Succeeded int `db:"succeeded"`
	Failed    int `db:"failed"`
	Skipped   int `db:"skipped"`
}

// CampaignKey is a row's place in the list, newest first. The zero value starts at the newest row.
type CampaignKey struct {
	At time.Time      `json:"a"`
	ID id.CPECampaign `json:"i"`
}

// Key makes the next page begin after this row.
func (r CampaignRow) Key() CampaignKey { return CampaignKey{At: r.StartedAt, ID: r.ID} }

// CampaignDeviceRow is one device of the model of a campaign.
type CampaignDeviceRow struct {
	CpeID       id.CPE          `db:"cpe_id"`
	State       string          `db:"state"`  // one of CampaignDeviceStates
	Reason      *string         `db:"reason"` // of a skip, or the code of the failure
	OperationID id.CPEOperation `db:"operation_id"`
	Tries       int             `db:"tries"`
	TriedAt     *time.Time      `db:"tried_at"`
}

// CampaignDeviceKey is a row's place in the list. The zero value starts at the first row.
type CampaignDeviceKey struct {
	ID id.CPE `json:"i"`
}

// Key makes the next page begin after this row.
func (r CampaignDeviceRow) Key() CampaignDeviceKey { return CampaignDeviceKey{ID: r.CpeID} }

// CampaignsQuery serves deployments of firmware.
type CampaignsQuery struct{ Views *runner.Views }

// campaignSelect fits CampaignRow; a condition follows.
const campaignSelect = `select campaign_id, firmware_id, filename, version, model, state, matched, terms, started_at,
	ended_at, succeeded_before, failed_before, actor_kind, actor_id, revision, n.*
from {schema}.campaigns c, lateral (select count(*) filter (where d.state = 'pending') as pending,
	count(*) filter (where d.state = 'sent') as sent, count(*) filter (where d.state = 'succeeded') as succeeded,
	count(*) filter (where d.state = 'failed') as failed, count(*) filter (where d.state = 'skipped') as skipped
	from {schema}.devices d where d.campaign_id = c.campaign_id) n
where c.org_id = @org `

// Get returns a campaign of an organization; nil when it has none with this id.
func (q CampaignsQuery) Get(
	ctx context.Context, org id.Organization, campaign id.CPECampaign,
) (*CampaignRow, error) {
	var row *CampaignRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &row, pgx.RowToStructByName[CampaignRow],
			q.Views.SQL(CampaignsName, campaignSelect+`and c.campaign_id = @campaign`),
			pgx.NamedArgs{"org": org, "campaign": campaign})
	})
	return row, err
}

// State is that of a campaign of an organization; "" when it has none with this id.
func (q CampaignsQuery) State(ctx context.Context, org id.Organization, campaign id.CPECampaign) (string, error) {
	var state *string
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &state, pgx.RowTo[string], q.Views.SQL(CampaignsName,
			`select state from {schema}.campaigns where org_id = $1 and campaign_id = $2`), org, campaign)
	})
	return null.Zero(state), err
}

// Uses reports whether a campaign of an organization may still send a file, or a device may still load it.
func (q CampaignsQuery) Uses(ctx context.Context, org id.Organization, file id.CPEFirmware) (bool, error) {
	var uses *bool
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectMaybe(r, &uses, pgx.RowTo[bool], q.Views.SQL(CampaignsName, `
			select exists (select from {schema}.campaigns c where c.org_id = $1 and c.firmware_id = $2
				and (c.state in ('running', 'stopped') or exists (select from {schema}.devices d
					where d.campaign_id = c.campaign_id and d.state = 'sent')))`), org, file)
	})
	return null.Zero(uses), err
}

// List returns up to max campaigns of an organization after a key, newest first.
func (q CampaignsQuery) List(
	ctx context.Context, org id.Organization, after CampaignKey, max int,
) ([]CampaignRow, error) {
	var rows []CampaignRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CampaignRow], q.Views.SQL(CampaignsName, campaignSelect+`
			and (@at::timestamptz is null or (started_at, campaign_id) < (@at::timestamptz, @id::uuid))
			order by started_at desc, campaign_id desc limit @max`), pgx.NamedArgs{
			"org": org, "at": null.Time(after.At), "id": after.ID, "max": max,
		})
	})
	return rows, err
}

// deviceSelect fits CampaignDeviceRow; conditions follow.
const deviceSelect = `select cpe_id, state, reason, operation_id, tries, tried_at from {schema}.devices
where org_id = @org and campaign_id = @campaign `

// Devices returns up to max devices of a campaign after a key; state "" = in any.
func (q CampaignsQuery) Devices(
	ctx context.Context, org id.Organization, campaign id.CPECampaign, state string, after CampaignDeviceKey, max int,
) ([]CampaignDeviceRow, error) {
	var rows []CampaignDeviceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CampaignDeviceRow], q.Views.SQL(CampaignsName, deviceSelect+`
			and (@state = '' or state = @state) and cpe_id > @id order by cpe_id limit @max`), pgx.NamedArgs{
			"org": org, "campaign": campaign, "state": state, "id": after.ID.UUID(), "max": max,
		})
	})
	return rows, err
}

// Next returns up to max devices of a campaign that wait, are among those that have called lately, and were not tried
// after an instant: those that were never tried first.
func (q CampaignsQuery) Next(
	ctx context.Context, org id.Organization, campaign id.CPECampaign, among []id.CPE, before time.Time, max int,
) ([]CampaignDeviceRow, error) {
	var rows []CampaignDeviceRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[CampaignDeviceRow], q.Views.SQL(CampaignsName, deviceSelect+`
			and state = 'pending' and cpe_id = any(@among) and (tried_at is null or tried_at < @before)
			order by tried_at nulls first, cpe_id limit @max`), pgx.NamedArgs{
			"org": org, "campaign": campaign, "among": among, "before": before, "max": max,
		})
	})
	return rows, err
}

// ModelRow is one CPE of a model, with what decides whether a file of firmware is for it.
type ModelRow struct {
	ID           id.CPE `db:"cpe_id"`
	OUI          string `db:"oui"`
	ProductClass string `db:"product_class"`
	Firmware     string `db:"firmware"`
}

// OfModel returns up to max CPEs of an organization and a model.
func (q CPEsQuery) OfModel(ctx context.Context, org id.Organization, model string, max int) ([]ModelRow, error) {
	var rows []ModelRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[ModelRow], q.Views.SQL(CPEsName, `
			select cpe_id, oui, product_class, firmware from {schema}.cpes where org_id = $1 and model = $2
			order by cpe_id limit $3`), org, model, max)
	})
	return rows, err
}
