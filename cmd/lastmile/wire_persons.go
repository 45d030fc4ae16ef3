package main

import (
	"encoding/json"
	"net/http"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/persons"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs/subscribers"
	"github.com/lastmile-isp/lastmile/usecases/exports"
	"github.com/lastmile-isp/lastmile/usecases/persons"
)

// wirePersons registers the jobs that erase persons, and makes the endpoints of what a person may ask for.
func (a *App) wirePersons() ([]httpapi.Route, error) {
	e := a.engines
	forgetting := personscases.Forgetting{Bus: e.bus, Views: e.views}
	answer, err := erasedAnswer()
	if err != nil {
		return nil, err
	}
	eraser := personscases.Eraser{Forgetting: forgetting, Vault: a.storage.vault, Answer: answer}
	subscribersjobs.Erasers{Person: eraser.Erase, User: eraser.EraseUser, Queue: e.jobs}.Register()
	return personsapi.Persons{
		Forgetting: forgetting,
		Data: exportscases.Persons{
			Bus: e.bus, Views: e.views, Files: a.storage.vault.Files, Limiter: a.storage.vault.Limits,
			Telemetry: a.DB().Namespace.Schema("telemetry"), Clock: a.clock,
		},
	}.Routes(), nil
}

// erasedAnswer goes to a repeated request whose stored answer named a person who is forgotten.
func erasedAnswer() (vault.Answer, error) {
	body, err := json.Marshal(httpapi.ErrorBody{
		StatusCode: http.StatusConflict, Message: "This person was erased.",
		Error: http.StatusText(http.StatusConflict), Code: "subject_forgotten",
	})
	return vault.Answer{
		Status: http.StatusConflict, Header: map[string][]string{"Content-Type": {"application/json; charset=utf-8"}},
		Body: body,
	}, err
}
