package exportscases

import (
	"archive/zip"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/aggregates/access"
	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/usecases"
)

// setting is a part of what an organization has chosen, as JSON.
type setting struct {
	name  string
	value any
}

// settings are those that no read model has, from the log. None of them is secret.
func (u Exports) settings(ctx context.Context, org id.Organization) ([]setting, error) {
	billing, err := usecases.BillingSettings(ctx, u.Bus, org)
	if err != nil {
		return nil, err
	}
	rules, _, err := bus.LoadUnchecked[access.DunningRules](ctx, u.Bus, org) // the id is the organization's own
	if err != nil {
		return nil, err
	}
	said, _, err := bus.LoadUnchecked[messaging.Settings](ctx, u.Bus, org)
	if err != nil {
		return nil, err
	}
	rules = rules.In(billing.Currency)
	return []setting{
		{"billing", billing}, {"dunning.default", rules.Default}, {"dunning.policies", rules.Policies},
		{"messages.language", said.Language}, {"messages.texts", said.Texts}, {"messages.quietHours", said.Quiet},
	}, nil
}

// writeSettings makes the file of the settings.
func (u Exports) writeSettings(ctx context.Context, archive *zip.Writer, org id.Organization) error {
	list, err := u.settings(ctx, org)
	if err != nil {
		return err
	}
	to, err := archive.CreateHeader(u.header("settings"))
	if err != nil {
		return err
	}
	w := csv.NewWriter(to)
	w.UseCRLF = true
	rows := [][]string{{"setting", "value"}}
	for _, s := range list {
		value, err := json.Marshal(s.value)
		if err != nil {
			return fmt.Errorf("write setting %s: %w", s.name, err)
		}
		rows = append(rows, []string{s.name, sheet.Disarmed(string(value))})
	}
	return w.WriteAll(rows)
}
