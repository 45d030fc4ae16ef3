package cpeviews

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CampaignsName keys the projection's checkpoint and schemas, so it never changes.
const CampaignsName = "cpe_campaigns"

// Campaigns has the deployments of firmware, and how far each device of them has come. A device waits in one of them at
// most: the first that listed it.
type Campaigns struct{}

// campaignsDDL is compiled in from campaigns.sql.
//
//go:embed campaigns.sql
var campaignsDDL string

// Name keys checkpoint and schemas.
func (Campaigns) Name() string { return CampaignsName }

// Version must grow with every change to the tables or to Apply.
func (Campaigns) Version() int { return 2 }

// DDL creates the tables of campaigns.sql.
func (Campaigns) DDL() string { return campaignsDDL }

// TenantTables are under row-level security.
func (Campaigns) TenantTables() []string { return []string{"campaigns", "devices"} }

// Handles lists the events that change the tables.
func (Campaigns) Handles() []string {
	return []string{
		events.CpeCampaignStarted{}.EventType(), events.CpeCampaignDevicesListed{}.EventType(),
		events.CpeCampaignDevicesSkipped{}.EventType(), events.CpeCampaignStopped{}.EventType(),
		events.CpeCampaignContinued{}.EventType(), events.CpeCampaignHalted{}.EventType(),
		events.CpeCampaignFinished{}.EventType(),
		events.CpeOperationQueued{}.EventType(), events.CpeOperationConfirmed{}.EventType(),
		events.CpeOperationFailed{}.EventType(), events.CpeOperationExpired{}.EventType(),
		events.CpeReleased{}.EventType(), events.CpeDetailsLearned{}.EventType(),
	}
}

// Statements about campaigns. Each may be applied twice.
const (
	campaignStartedSQL = `
insert into {schema}.campaigns (campaign_id, org_id, firmware_id, filename, version, model, state, matched, terms,
	started_at, actor_kind, actor_id, revision)
values (@campaign, @org, @firmware, @filename, @version, @model, 'running', @matched, @terms, @at, @actor_kind,
	@actor_id, @revision)
on conflict (campaign_id) do nothing`
	// A device that waits in another campaign is not for this one.
	campaignListedSQL = `
insert into {schema}.devices (campaign_id, cpe_id, org_id, state, reason)
select @campaign, cpe, @org, case when busy then 'skipped' else 'pending' end,
	case when busy then '` + string(events.CpeOtherCampaign) + `' end
from (select cpe, exists (select from {schema}.devices d where d.cpe_id = cpe and d.campaign_id <> @campaign
	and d.state in ('pending', 'sent') and not d.released) as busy from unnest(@cpes::uuid[]) as cpe) listed
on conflict (campaign_id, cpe_id) do nothing`
	campaignSkippedSQL = `
insert into {schema}.devices (campaign_id, cpe_id, org_id, state, reason)
select @campaign, cpe, @org, 'skipped', @reason from unnest(@cpes::uuid[]) as cpe
on conflict (campaign_id, cpe_id) do nothing`
	campaignStoppedSQL = `
update {schema}.campaigns set state = 'stopped', revision = $2 where campaign_id = $1 and revision < $2`
	// What has ended by now does not count any more for the share of failures.
	campaignContinuedSQL = `
update {schema}.campaigns c set state = 'running', revision = $2,
	succeeded_before = (select count(*) from {schema}.devices where campaign_id = $1 and state = 'succeeded'),
	failed_before = (select count(*) from {schema}.devices where campaign_id = $1 and state = 'failed')
where campaign_id = $1 and revision < $2`
	campaignEndedSQL = `
update {schema}.campaigns set state = @state, ended_at = @at, revision = @revision
where campaign_id = @campaign and revision < @revision`
	campaignLeftSQL = `
update {schema}.devices set state = 'skipped', reason = $2 where campaign_id = $1 and state = 'pending'`
)

// Statements about devices of campaigns. Each may be applied twice.
const (
	deviceSentSQL = `
update {schema}.devices set state = 'sent', operation_id = @operation, tries = tries + 1, tried_at = @at
where campaign_id = @campaign and cpe_id = @cpe and state = 'pending' and operation_id is distinct from @operation`
	deviceSucceededSQL = `
update {schema}.devices set state = 'succeeded' where operation_id = $1 and state = 'sent'`
	deviceFailedSQL = `
update {schema}.devices set state = 'failed', reason = $2 where operation_id = $1 and state = 'sent'`
	deviceSkippedSQL = `
update {schema}.devices set state = 'skipped', reason = $2 where operation_id = $1 and state = 'sent'`
	// A device that was not told waits again, unless it was released or its campaign has ended meanwhile.
	deviceAgainSQL = `
update {schema}.devices d set state = case when d.released or c.ended_at is not null then 'skipped' else 'pending' end,
	reason = case when d.released then '` + string(events.CpeReleasedSkip) + `'
		when c.state = 'halted' then '` + string(events.CpeHalted) + `'
		when c.state = 'finished' then '` + string(events.CpeDeadline) + `' end
from {schema}.campaigns c where c.campaign_id = d.campaign_id and d.operation_id = $1 and d.state = 'sent'`
	// What is on its way to a released device ends by its own event.
	deviceReleasedSQL = `
update {schema}.devices set released = true, state = case state when 'pending' then 'skipped' else state end,
	reason = case state when 'pending' then '` + string(events.CpeReleasedSkip) + `' else reason end
where cpe_id = $1 and state in ('pending', 'sent')`
	deviceCurrentSQL = `
update {schema}.devices d set state = 'skipped', reason = '` + string(events.CpeCurrent) + `'
from {schema}.campaigns c
where c.campaign_id = d.campaign_id and d.cpe_id = $1 and d.state = 'pending' and c.version = $2`
)

// Apply queues the statements for one event.
func (Campaigns) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.CpeCampaignEvent:
		return applyCampaign(w, e, v)
	case events.CpeOperationQueued:
		if v.Deployed != nil {
			w.Exec(deviceSentSQL, pgx.NamedArgs{
				"operation": v.OperationID, "campaign": v.Deployed.CampaignID, "cpe": v.CpeID, "at": v.At,
			})
		}
	case events.CpeOperationConfirmed:
		w.Exec(deviceSucceededSQL, v.OperationID)
	case events.CpeOperationFailed:
		switch v.Code {
		case events.CpeNotBegun:
			w.Exec(deviceAgainSQL, v.OperationID)
		case string(events.CpeReleasedSkip), string(events.CpeCurrent):
			w.Exec(deviceSkippedSQL, v.OperationID, v.Code)
		default: // a fault of the device
			w.Exec(deviceFailedSQL, v.OperationID, v.Code)
		}
	case events.CpeOperationExpired:
		w.Exec(deviceFailedSQL, v.OperationID, "expired")
	case events.CpeReleased:
		w.Exec(deviceReleasedSQL, v.CpeID)
	case events.CpeDetailsLearned:
		w.Exec(deviceCurrentSQL, v.CpeID, v.Details.FirmwareVersion)
	}
	return nil
}

// applyCampaign queues the statements for one event of a campaign.
func applyCampaign(w *runner.Writes, e events.Envelope, event events.CpeCampaignEvent) error {
	revision := int64(e.Revision) //nolint:gosec // fits
	ended := func(campaign id.CPECampaign, state string, left events.CpeSkipReason, at time.Time) {
		w.Exec(campaignEndedSQL, pgx.NamedArgs{
			"campaign": campaign, "state": state, "at": at, "revision": revision,
		})
		w.Exec(campaignLeftSQL, campaign, string(left))
	}
	switch v := event.(type) {
	case events.CpeCampaignStarted:
		terms, err := json.Marshal(v.Terms)
		if err != nil {
			return fmt.Errorf("write terms: %w", err)
		}
		w.Exec(campaignStartedSQL, pgx.NamedArgs{
			"campaign": v.CampaignID, "org": v.OrgID, "firmware": v.FirmwareID, "filename": v.Filename,
			"version": v.Version, "model": v.Model, "matched": v.Matched, "terms": string(terms), "at": v.At,
			"actor_kind": string(e.Meta.Actor.Kind), "actor_id": e.Meta.Actor.ID, "revision": revision,
		})
	case events.CpeCampaignDevicesListed:
		w.Exec(campaignListedSQL, pgx.NamedArgs{"campaign": v.CampaignID, "org": v.OrgID, "cpes": v.CpeIDs})
	case events.CpeCampaignDevicesSkipped:
		w.Exec(campaignSkippedSQL, pgx.NamedArgs{
			"campaign": v.CampaignID, "org": v.OrgID, "cpes": v.CpeIDs, "reason": string(v.Reason),
		})
	case events.CpeCampaignStopped:
		w.Exec(campaignStoppedSQL, v.CampaignID, revision)
	case events.CpeCampaignContinued:
		w.Exec(campaignContinuedSQL, v.CampaignID, revision)
	case events.CpeCampaignHalted:
		ended(v.CampaignID, CampaignHalted, events.CpeHalted, v.At)
	case events.CpeCampaignFinished:
		ended(v.CampaignID, CampaignFinished, events.CpeDeadline, v.At)
	}
	return nil
}
