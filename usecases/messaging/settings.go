package messagingcases

import (
	"context"
	"maps"

	"github.com/lastmile-isp/lastmile/aggregates/messaging"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Settings reads and sets what organizations tell their customers. Safe for concurrent use.
type Settings struct{ Bus *bus.Bus }

// SettingsShown has the settings that hold in an organization.
type SettingsShown struct {
	Language  events.Language
	Templates map[events.Language]Templates // of every language, each complete
	Quiet     *events.QuietHours            // nil = never
	Revision  uint64                        // commands.NoRevision = they were never set
}

// SettingsChange has the settings to make; nil = the present ones stay. A given map replaces all texts of a language:
// those that are not in it are the usual ones again.
type SettingsChange struct {
	Language *events.Language
	// Templates are those in the language of the organization, and Translations those in others.
	Templates    Templates
	Translations map[events.Language]Templates
	Quiet        **events.QuietHours
}

// usualLanguage is that of customers of an organization that has set none.
const usualLanguage = events.English

// Read gives the settings that hold, from the log.
func (u Settings) Read(ctx context.Context, org id.Organization) (SettingsShown, error) {
	state, revision, err := bus.LoadUnchecked[messaging.Settings](ctx, u.Bus, org) // the id is the organization's own
	if err != nil {
		return SettingsShown{}, err
	}
	out := SettingsShown{
		Language: languageOf(state), Templates: map[events.Language]Templates{}, Quiet: state.Quiet, Revision: revision,
	}
	if state.Org.IsZero() {
		out.Revision = commands.NoRevision
	}
	for _, language := range events.Languages() {
		out.Templates[language] = templatesOf(state, language)
	}
	return out, nil
}

// languageOf is the language of customers for whom no other one is known.
func languageOf(s messaging.Settings) events.Language {
	if s.Language.Known() {
		return s.Language
	}
	return usualLanguage
}

// templatesOf are the texts in a language: the organization's own, and the usual ones for the others.
func templatesOf(s messaging.Settings, in events.Language) Templates {
	all := UsualTemplates(in)
	maps.Copy(all, s.Texts[in])
	return all
}

// setTries bounds how often a change is made again because another one came first.
const setTries = 4

// Set makes the change. With If-Match the settings are changed at that revision only; without it, of two changes of the
// same part at the same moment the later one stays. Fails: invalid_input, stale_revision, concurrent_change.
func (u Settings) Set(ctx context.Context, asked usecases.Asked, in SettingsChange) (bus.Result, error) {
	for try := 1; ; try++ {
		present, revision, err := bus.LoadUnchecked[messaging.Settings](ctx, u.Bus, asked.Org())
		if err != nil {
			return bus.Result{}, err
		}
		if present.Org.IsZero() {
			revision = commands.NoRevision
		}
		meta := asked.Meta
		conditional := meta.ExpectedRevision != nil
		if !conditional {
			meta.ExpectedRevision = &revision
		}
		next := in.onto(present)
		next.OrgID = asked.Org()
		if err := next.Validate(); err != nil {
			return bus.Result{}, err
		}
		done, err := u.Bus.Execute(ctx, next, meta)
		if conditional || failure.KindOf(err) != failure.Stale || try == setTries {
			return done, err
		}
	}
}

// onto applies the change to the present settings. A text that is the usual one is not kept: it follows when that is
// written better.
func (in SettingsChange) onto(present messaging.Settings) commands.SetMessageSettings {
	next := commands.SetMessageSettings{
		Language: languageOf(present), Quiet: present.Quiet,
		Texts: map[events.Language]map[events.MessageTemplate]events.MessageTexts{},
	}
	if in.Language != nil {
		next.Language = *in.Language
	}
	if in.Quiet != nil {
		next.Quiet = *in.Quiet
	}
	maps.Copy(next.Texts, present.Texts)
	for language, texts := range in.Translations {
		next.Texts[language] = own(language, texts)
	}
	if in.Templates != nil {
		next.Texts[next.Language] = own(next.Language, in.Templates)
	}
	return next
}

// own are the texts that differ from the usual ones.
func own(in events.Language, texts Templates) map[events.MessageTemplate]events.MessageTexts {
	usual, differ := UsualTemplates(in), map[events.MessageTemplate]events.MessageTexts{}
	for name, text := range texts {
		if known, is := usual[name]; !is || known != text {
			differ[name] = text
		}
	}
	return differ
}
