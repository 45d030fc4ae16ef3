package messaging

import (
	"maps"
	"reflect"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// AllSettings defines the settings about messages: one stream for each organization that has changed them.
func AllSettings() aggregates.Definition[Settings, commands.MessageSettingsCommand, events.MessageSettingsEvent] {
	return aggregates.Definition[Settings, commands.MessageSettingsCommand, events.MessageSettingsEvent]{
		Category: commands.MessageSettingsCategory, Missing: commands.ErrNotFound, Evolve: evolveSettings,
		Decide: decideSettings, Owner: func(s Settings) id.Organization { return s.Org },
		Commands: []commands.MessageSettingsCommand{commands.SetMessageSettings{}},
	}
}

// Settings are those of one organization. The zero value is "never changed": the usual texts in English, and no quiet
// hours.
type Settings struct {
	Org      id.Organization
	Language events.Language
	Texts    map[events.Language]map[events.MessageTemplate]events.MessageTexts
	Quiet    *events.QuietHours
}

// evolveSettings applies one recorded event.
func evolveSettings(s Settings, e events.MessageSettingsEvent) Settings {
	switch e := e.(type) {
	case events.MessageSettingsSet:
		return Settings{Org: e.OrgID, Language: e.Language, Texts: e.Texts, Quiet: e.Quiet}
	}
	return s
}

// decideSettings gives no event for equal settings.
func decideSettings(
	s Settings, c commands.MessageSettingsCommand, now time.Time,
) ([]events.MessageSettingsEvent, error) {
	switch c := c.(type) {
	case commands.SetMessageSettings:
		set := events.MessageSettingsSet{OrgID: c.OrgID, Language: c.Language, Quiet: c.Quiet, At: now}
		for language, texts := range c.Texts {
			if len(texts) == 0 {
				continue
			}
			if set.Texts == nil {
				set.Texts = map[events.Language]map[events.MessageTemplate]events.MessageTexts{}
			}
			set.Texts[language] = maps.Clone(texts)
		}
		if reflect.DeepEqual(s, Settings{Org: c.OrgID, Language: c.Language, Texts: set.Texts, Quiet: c.Quiet}) {
			return nil, nil
		}
		return []events.MessageSettingsEvent{set}, nil
	}
	return nil, nil
}
