package main

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copilot-mem/copilot-mem/internal/validate"
)

// The parts of SARIF 2.1.0 that we write: https://docs.oasis-open.org/sarif/sarif/v2.1.0/
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		Language   string        `json:"language"`
		ColumnKind string        `json:"columnKind"`
		LineEnds   []string      `json:"newlineSequences"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Language       string      `json:"language"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID            string          `json:"id"`
		Description   sarifText       `json:"shortDescription"`
		Configuration sarifLevel      `json:"defaultConfiguration"`
		Properties    sarifProperties `json:"properties"`
	}
	sarifLevel struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifProperties struct {
		Tags []string `json:"tags"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
)

func printFindingsSARIF(e *env, findings []validate.Finding, _ validate.Summary) error {
	level := map[string]string{validate.Error: "error", validate.Warning: "warning", validate.Info: "note"}
	run := sarifRun{Language: "en-US", ColumnKind: "unicodeCodePoints", LineEnds: []string{"\r\n", "\n"}, Results: []sarifResult{}, Tool: sarifTool{sarifDriver{
		Name: "copilot-mem", Version: pluginVersion(), InformationURI: "https://github.com/copilot-mem/copilot-mem", Language: "en-US", Rules: []sarifRule{}}}}
	index := map[string]int{}
	for _, r := range validate.Rules {
		if !slices.ContainsFunc(findings, func(f validate.Finding) bool { return f.Rule == r.ID }) {
			continue
		}
		index[r.ID] = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.ID, sarifText{r.About}, sarifLevel{level[r.Severity]},
			sarifProperties{strings.Split(r.Voice, ", ")}})
	}
	for _, f := range findings {
		text := f.Message
		if f.Hint != "" {
			text += "\nhint: " + f.Hint
		}
		run.Results = append(run.Results, sarifResult{f.Rule, index[f.Rule], level[f.Severity], sarifText{text},
			[]sarifLocation{{sarifPhysical{sarifArtifact{fileURI(f.File)}, sarifRegion{f.Line, f.Column}}}}})
	}
	return e.printJSON(sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// fileURI is a relative reference for a relative path, so that a code host finds the file in the repository.
func fileURI(file string) string {
	slash := filepath.ToSlash(file)
	if filepath.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(slash, "/")}).String()
	}
	return (&url.URL{Path: slash}).String()
}
