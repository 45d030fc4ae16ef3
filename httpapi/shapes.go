package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// jsonNumber is an amount in major units, exact.
type jsonNumber = json.Number

// auditActor is who acted.
type auditActor struct {
	ID   *string `json:"id" doc:"null: nobody signed in"`
	Kind string  `json:"kind" enum:"user,api_key,process,provider,operator,public"`
	Name *string `json:"name" doc:"null: not a person, or forgotten"`
	Role *string `json:"role" doc:"at that moment"`
}

// percent is basis points as a JSON number of percent: 16, 7.5.
func percent(basisPoints int64) jsonNumber {
	text := fmt.Sprintf("%d.%02d", basisPoints/100, basisPoints%100)
	return json.Number(strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}

// maxDaysAhead bounds dates to come: a period that ends in the year 10000 cannot be written down.
const maxDaysAhead = 5 * 366

// SettingsSource reads an organization's present billing settings from the log.
type SettingsSource interface {
	BillingSettings(ctx context.Context, org id.Organization) (events.BillingSettings, error)
}
