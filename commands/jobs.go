package commands

// Job is the arguments of one outside call, made by a worker of jobs/<area>. Arguments carry ids only: never phones,
// codes or texts (docs/rules/engine.md#jobs). Each kind is a struct in jobs_<area>.go.
type Job interface {
	// Kind is the durable name of the job.
	Kind() string
}
