"""The words that people use for what GitLab calls otherwise. Reviewed by hand; nothing here is read by a model.

`SAME` holds in both directions and before anything else: a phrase in a question or in a sentence of ours is one term.
`MEANS` is for questions alone: a word stands for these as well, a little less. `ASKED` and `PATHS` describe actions: what
people say who want that action, or any action with that piece in the path of its endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _lines(text: str) -> dict[str, tuple[str, ...]]:
    rows = (line.partition(":") for line in text.strip().splitlines() if line.strip())
    return {
        name.strip(): tuple(part.strip() for part in rest.split(",") if part.strip()) for name, _, rest in rows
    }


SAME: Final[Mapping[str, tuple[str, ...]]] = _lines("""
merge_request: merge request, pull request, PR, MR, change request, changelist, patch set, gerrit change
merge_train: merge train, merge queue
work_item: work item, workitem
feature_flag: feature flag, feature toggle, feature switch, feature gate, launchdarkly
deploy_key: deploy key, deployment key
deploy_token: deploy token
access_token: access token, personal access token, project access token, group access token, PAT, API token, API key
impersonation_token: impersonation token
trigger_token: trigger token, pipeline trigger, trigger tokens
job_token: job token, CI_JOB_TOKEN
merge_base: merge base, common ancestor
protected_branch: protected branch, branch protection, protect branch, branch policy, branch restriction, branch permission
protected_tag: protected tag, tag protection, protect tag
protected_environment: protected environment, protect environment, environment protection
push_rule: push rule, commit rule
approval_rule: approval rule, approval rules, merge check, required reviewers, required approvals
code_owner: code owner, codeowner
service_account: service account, bot user, bot account, machine user, robot account, technical user, service principal
ssh_key: ssh key, ssh public key, public key
gpg_key: gpg key, pgp key
webhook: webhook, web hook, service hook, project hook, group hook, http callback
system_hook: system hook
award_emoji: award emoji, emoji reaction, emoji
to_do: to do, todo, to do item
time_tracking: time tracking, time spent, spent time, work log, worklog
freeze_period: freeze period, deploy freeze, deployment freeze, code freeze, change freeze
review_app: review app, preview environment, preview deployment
ci_variable: ci variable, ci cd variable, cicd variable, environment variable, env var, pipeline variable, actions secret, repository secret, build secret, variable group
audit_event: audit event, audit log, audit trail
wiki_page: wiki page
issue_board: issue board, kanban board, scrum board, project board, kanban
sub_group: subgroup, sub group
push_mirror: push mirror, remote mirror, push mirroring
pull_mirror: pull mirror, pull mirroring
container_registry: container registry, docker registry, docker image, container image, docker repository, oci image
package_registry: package registry, artifact feed, artifacts feed, nuget feed, npm registry
terraform_state: terraform state, tfstate, opentofu state
cluster_agent: cluster agent, kubernetes agent, k8s agent, agent for kubernetes, agentk, gitlab agent, kubernetis agent
secure_file: secure file, provisioning profile, keystore
broadcast_message: broadcast message, announcement banner, maintenance banner, site banner
merged_yaml: merged yaml, resolved yaml, expanded yaml
release_note: release note, changelog, change log
default_branch: default branch, main branch setting
dependency_proxy: dependency proxy
dependency_list: dependency list, sbom, software bill material, bill material, cyclonedx
error_tracking: error tracking, sentry
resource_group: resource group
deploy_board: deploy board
two_factor: two factor, twofactor, mfa, second factor, multi factor
code_search: code search, grep, search code, search source code
value_stream: value stream
custom_attribute: custom attribute
custom_role: custom role, member role
external_status_check: status check, external check
job_artifact: job artifact, build artifact, build output
latest_release: latest release
pages_domain: pages domain, custom domain
user_status: user status
issue_link: issue link, linked issue, related issue
review_comment: review comment, inline comment, diff comment, line comment
draft_note: draft note, draft comment, pending comment, pending review
plan_limit: plan limit
storage_move: storage move, repository storage
ldap_link: ldap link, ldap group link, ldap group, ldap sync
saml_link: saml link, saml group link, saml group, saml sync
billable_member: billable member, paid seat, licensed seat
dora: dora, deployment frequency, lead time for change, change failure rate, time to restore
pipeline_schedule: pipeline schedule, scheduled pipeline, cron job, cron, nightly build, nightly pipeline, nightly, scheduled build, scheduled workflow
ci_config: ci config, ci configuration, gitlab ci yml, ci file, pipeline yaml, pipeline definition, cicd configuration, workflow file, yaml pipeline
ci_catalog: ci catalog, cicd catalog, component catalog
pipeline: pipeline, ci run, workflow run, action workflow, actions run, github action, build pipeline, ci pipeline
bulk_import: bulk import, direct transfer
""")

MEANS: Final[Mapping[str, tuple[str, ...]]] = _lines("""
repo: project, repository
repository: project
ticket: issue, work_item
bug: issue
defect: issue
story: issue, work_item
user story: issue, work_item
feature request: issue
incident: issue, work_item
sub task: task, work_item, child
subtask: task, work_item, child
task: work_item, issue
card: issue
sprint: iteration
cadence: iteration
fixversion: milestone
fix version: milestone
version: release, milestone
initiative: epic
theme: epic
objective: work_item, okr
okr: work_item
build: pipeline, job
ci: pipeline
cicd: pipeline, ci_variable
workflow: pipeline
run: pipeline
stage: pipeline
step: job
console: log, job
output: log, job_artifact, job
stdout: log, job
trace: log, job
check: pipeline, status
machine: runner
executor: runner
build agent: runner
build server: runner
self host: runner
worker: runner
agent pool: runner
secret: ci_variable, variable
env: ci_variable, environment
mask: ci_variable, variable
credential: token, access_token, ci_variable
password: access_token, token
gist: snippet
paste: snippet
code fragment: snippet
docs: wiki_page, wiki
documentation: wiki, wiki_page
handbook: wiki
people: user, member
person: user, member
somebody: user, member
someone: user, member
everyone: user, member
everybody: all
colleague: user, member
teammate: member
contractor: member, invite
collaborator: member
contributor: member, contribution
permission: role, member, access
right: role, access
role: member, access
maintainer: member, role
developer: member, role
owner: member, code_owner
guest: member
organization: group
organisation: group
org: group
team: group, member
workspace: group, namespace
team space: group, sub_group
namespace: group
space: group
account: user
profile: user
admin: administrator, instance
administrator: instance
server: instance
sign up: signup, settings, application
seat: billable_member, member
license: license
comment: note, discussion
remark: note, comment, line, review_comment
reply: discussion, note, answer
answer: reply, discussion
conversation: discussion, thread
thread: discussion
feedback: review, comment, note
reviewer: review, merge_request
inline: line, comment_line
suggestion: suggestion, apply
suggest: suggestion, apply
land: merge, merge_request
ship: merge, release, deploy
squash: merge, merge_request
conflict: merge_readiness, merge_request
mergeable: merge_readiness
block: blocker
sign off: approve, approval
lgtm: approve
plus one: approve, award_emoji
thumb: award_emoji, reaction
react: award_emoji, reaction
emoji: award_emoji, reaction
backport: cherry_pick, cherry, pick
port: cherry, pick
hotfix: cherry, pick, branch
undo: revert
roll back: revert, deployment
rollback: revert, deployment
history: commit, list, event
diff: diff, compare
difference: compare, diff
annotate: blame
blame: blame
grep: code_search, search, code
source code: code_search, code, file
lookup: search, find
red: fail
broke: fail, failure_digest
broken: fail, failure_digest
break: fail, failure_digest
wrong: fail, failure_digest
crash: fail, failure_digest
culprit: fail, failure_digest, blame
flaky: test, fail, retry
green: success, pipeline
fail: failure_digest, test_report, fail
failing: fail, test_report
rerun: retry
again: retry
restart: retry
kick off: create, run, pipeline
start: create, play, run
launch: create, play, run
trigger: create, pipeline
abort: cancel
kill: cancel, stop
stop: cancel, stop
halt: cancel, pause
interrupt: cancel
manual: play
approve: approve, approval
deploy: deployment, environment
deployment: environment
production: environment, deployment
prod: environment, deployment
staging: environment
live: environment, deployment
roll out: feature_flag, strategy, deployment
rollout: feature_flag, strategy
canary: feature_flag, environment, deployment
christmas: freeze_period
holiday: freeze_period
no deployment: freeze_period
tear down: stop, environment, delete
toggle: feature_flag
experiment: feature_flag
image: container_registry, registry
docker: container_registry, registry
container: container_registry, registry
tarball: package, archive, upload
library: package, dependency
npm: package
maven: package
pypi: package
binary: package, asset, link, release
asset: link, release
zip: archive, download
download: download, artifact, archive, get
disk space: artifact, storage, delete
storage: artifact, statistics, size
clean up: delete, merged, stale
cleanup: delete, policy, merged
prune: delete, merged
purge: delete
wipe: delete
stale: stale, old
rename: update, path, name
hand over: transfer
move: transfer, move
migrate: import, transfer, bulk_import
migration: import, bulk_import
copy: fork, clone
duplicate: clone, issue_link, link
relate: link
link: link
depend: dependency, block
read only: archive
freeze: freeze_period, archive
lock: lock, protect, archive
unlock: unlock, lock
watch: subscribe, notification, subscription
follow: subscribe, follow
mute: unsubscribe, notification, subscription
notify: notification, subscription
mail: email, notification
email: email, notification
inbox: to_do, notification
plate: to_do, count
work today: to_do, count
assign: assignee
mine: current, own
who am i: current, user, token
whoami: current, user
log in: user, token
login: user, session
session: token, user
expire: expires, token, overview
leak: rotate, revoke, token, variable
rotate: rotate, token
invite: invite, member, invitation
kick: remove, member
fire: remove, member
leave: remove, member
offboard: remove, member, deactivate
onboard: add, member, invite
promote: update, member, role
demote: update, member, role
hook: webhook
callback: webhook
endpoint: webhook
delivery: webhook, event
slack: slack, integration
teams: microsoft, integration
microsoft: microsoft, integration
jira: jira, integration
jenkins: jenkins, integration
discord: discord, integration
service: integration
plugin: integration
connect: integration
chatops: slack, integration
mirror: push_mirror, pull_mirror, mirror
sync: mirror, sync
upstream: pull_mirror, mirror, fork
github: import, github
bitbucket: import, bitbucket
kubernetes: cluster_agent, cluster
k8s: cluster_agent, cluster
cluster: cluster_agent
kubectl: cluster_agent, cluster
terraform: terraform_state
tofu: terraform_state
website: pages
static site: pages
site: pages
host: pages, runner
domain: pages_domain
certificate: pages_domain, certificate
readme: badge, file
shield: badge
logo: avatar, appearance
picture: avatar
avatar: avatar
screenshot: upload, image
attachment: upload
attach: upload, link
image file: upload
oauth: application
sso: saml_link, saml, identity
spam: ban, user
spammer: ban, user
suspend: block, deactivate, user
disable: update, delete, disable
announce: broadcast_message
announcement: broadcast_message
banner: broadcast_message
maintenance: broadcast_message
cve: vulnerability
security: vulnerability
exploit: vulnerability
weakness: vulnerability
finding: vulnerability
scanner: vulnerability, finding
false positive: dismiss, vulnerability
sbom: dependency_list, dependency, export
license compliance: dependency
compliance: framework
log: log, audit_event, event
activity: event
timeline: event
cycle time: flow, value_stream
lead time: flow, dora, value_stream
velocity: flow, iteration, burndown
burndown: burndown, milestone
productivity: contribution, flow
metric: dora, analytics
statistics: statistics, analytics
count: count, statistics
many: count, statistics
star: star
favourite: star
favorite: star
column: list, board
swimlane: list, board
lane: list, board
board: issue_board, board
kanban: board, list
estimate: estimate, time_tracking
hour: time_tracking, spent
story point: weight
point: weight
priority: weight, label
due: update, due
colour: color, label
color: color, label
tag: tag, label
git tag: tag
label: label
yaml: ci_config
yml: ci_config
lint: lint, ci_config
valid: lint, ci_config
validate: lint, ci_config
include: merged, ci_config
enterprise: edition, metadata, enterprise
community: edition, metadata
edition: metadata, version
allow: explain_access, permission, allow
forbid: explain_access, permission
permit: explain_access
denied: explain_access
403: explain_access
why: why, explain_access
render: render, markdown
preview: render, markdown
html: markdown, render
directory: tree
folder: tree
ls: tree, list
cat: file, get
content: file, get
raw: raw, file
blob: blob
submodule: submodule
stale branch: merged, delete
ancestor: merge_base
rebase: rebase
signup: signup, application, settings
configuration: settings, config
configure: settings, update
preference: settings, preference
option: settings
""")

ASKED: Final[Mapping[str, str]] = {
    name.strip(): text.strip()
    for name, _, text in (
        line.partition(":")
        for line in """
browse_pipelines failure_digest: who broke main; why is the build red; what went wrong in CI; broken build; reason for failure; culprit; why did the pipeline fail; root cause
browse_pipelines test_report: failing tests; failed tests; unit test results; junit; which tests fail
browse_pipelines list: CI runs; builds; workflow runs; recent builds; build history; CI/CD > Pipelines
browse_pipelines latest: status of main; is the build green; is main green; last build
browse_pipelines jobs: stages; steps of a build; checks
browse_pipeline_details bridges: child pipelines; downstream pipelines; triggered pipelines; multi-project
browse_pipeline_details variables: variables a pipeline ran with
manage_pipeline create: kick off a build; trigger CI; start a build; workflow dispatch; run CI on a branch; queue a build
manage_pipeline retry: rerun failed jobs; rerun the build; run again; restart the build; retry failed tests
manage_pipeline cancel: abort the build; stop CI; kill a running build; stop the running build
manage_job retry: rerun a job; run a step again; rerun flaky test
manage_job cancel: abort a job; kill a stuck job; stop a step
manage_job play: press play; start manual job; approve manual step; run manual deployment
browse_jobs log: console output; build log; job trace; stdout; output of a step
browse_jobs artifacts: build output; files a job produced; download build result; what the build produced
browse_jobs artifact_file: coverage report file; read a file from build output; download the produced file
browse_jobs list: running jobs; queued jobs; stuck jobs; what is running
manage_job_artifact delete_project_artifacts: free disk space; clean up storage; delete old artifacts
manage_job_artifact delete_artifacts: free disk space; remove artifacts of a job
manage_job_artifact keep_artifacts: do not expire; retain artifacts
manage_job_artifact erase: delete log and artifacts
browse_ci_config lint: validate gitlab-ci.yml; is the yaml valid; check pipeline syntax; lint the configuration; CI lint
browse_ci_config merged: resolved includes; full yaml; expanded configuration; includes resolved
browse_ci_config jobs: which jobs would run; dry run; simulate
manage_schedule create: run nightly; every night; cron; every morning; weekly; timer; periodically; regularly; Build > Pipeline schedules
manage_schedule update: pause the nightly build; stop the nightly build; disable schedule; deactivate cron; change the time
manage_schedule delete: stop the nightly build; remove cron; no more nightly
manage_schedule play: run the nightly now
browse_schedules list: cron jobs; nightly builds; what runs at night; timers; Build > Pipeline schedules
browse_variables list: secrets; CI/CD variables; environment variables; Settings > CI/CD > Variables
manage_variable create: add a secret; set env var; masked; actions secret; Settings > CI/CD > Variables; pipeline library variable
manage_variable update: change a secret; rotate a leaked secret; mask; hide
manage_variable delete: remove a secret
manage_variable show_value: reveal a secret; what is the value
browse_runners list: which machines run our jobs; build agents; agent pools; executors; runner online; Settings > CI/CD > Runners
manage_runner create: register a self-hosted runner; new build agent; add machine
manage_runner update: pause a runner; stop taking jobs; tags of a runner; rename
manage_runner delete: unregister a runner; remove machine
manage_feature_flag update: turn off; turn on; flip; roll out to percent of users; gradual rollout; kill switch
manage_feature_flag create: add a toggle; launch darkly; roll out gradually
browse_feature_flags list: toggles; Deploy > Feature flags
browse_environments list: where is it deployed; production; staging; Operate > Environments
browse_environments list_deployments: what is deployed; deployment history; which commit is live; last deployment
manage_environment create_freeze_period: no deployments over christmas; deploy freeze; stop deployments during holidays
manage_environment stop: tear down review app; shut down environment
manage_environment delete_review_apps: clean up old review apps
manage_environment protect: who may deploy; approvals for production; deployment approvals; gate
manage_environment approve_deployment: approve a deployment; release gate; reject deployment
manage_environment create_deployment: record a deployment
manage_commit_status set: report external build result; set check; commit status; Jenkins result; checks API
browse_commit_details statuses: checks of a commit; commit status; is the commit green
browse_commit_details signature: is the commit signed; verified; gpg
browse_commit_details merge_base: common ancestor; where did it fork off
browse_commits compare: what changed between two versions; diff of branches; compare tags; ahead behind
browse_commits list: git log; history; who committed; recent changes
browse_commits diff: git show; what did the commit change
browse_commits refs: which release contains the commit; is it in main
browse_commits merge_requests: which PR brought this commit
manage_commit revert: undo a commit; back out; take back
manage_commit cherry_pick: backport; port a fix to a stable branch; hotfix to another branch
manage_branch create: git checkout -b; new branch; rename a branch
manage_branch delete: remove branch; rename a branch
manage_branch delete_merged: clean up branches; prune merged branches
browse_branches list: git branch; stale branches
browse_files blame: who wrote this line; git blame; annotate; last changed line
browse_files get: file contents; read file; cat; raw file; file at a tag
browse_files tree: directory listing; ls; folder; files of the repository
manage_file commit: several files at once; atomic commit; push files; rename a file; move a file; bulk change
manage_file create: add a file; new file
manage_file update: edit a file; bump version
search code: grep; where is it defined; find in source; usages of a function; search repository
search users: find a person; who is
browse_users list: find a person; look up by email
browse_users current: who am I; whoami; my user; logged in as; myself
browse_users events: what did somebody do; activity of a person; my contributions
browse_users counts: what am I supposed to do; my workload; how much is waiting for me; what is on my plate
browse_instance metadata: version of GitLab; enterprise or community edition; which GitLab is this
browse_instance token: what can my token do; scopes of the token; when does my token expire
browse_instance explain_access: why am I not allowed; permission denied; what may I do; 403; forbidden; why is it refused; which features do I have
browse_issues list: tickets; bugs; open stories; backlog; my tickets
browse_issues statistics: how many bugs are open; count tickets
browse_issues related_merge_requests: which PR fixes it; code for a ticket
manage_issue create: file a bug; report a defect; raise a ticket; new story; feature request; open ticket
manage_issue update: close a ticket; reopen; assign; label; set due date; put in sprint; put into milestone; change status; weight; story points; edit ticket
manage_issue move: move ticket to another repo; transfer issue
manage_issue clone: copy a ticket
manage_issue add_link: duplicates; blocks; relates to; depends on; is blocked by
manage_issue reorder: rank; prioritise the backlog; order of issues
manage_merge_request create: open a pull request; propose changes; new PR
manage_merge_request update: assign reviewer; request review; mark ready; draft; retarget; close PR; edit title
manage_merge_request merge: squash and merge; land; complete pull request; auto-merge; merge when green; auto-complete
manage_merge_request approve: sign off; LGTM; vote; accept
manage_merge_request rebase: update branch; bring up to date with main
browse_merge_requests merge_readiness: what blocks it; why can't it be merged; conflicts; not mergeable; ready to merge
browse_merge_requests review_bundle: review a pull request; everything for a code review
browse_merge_requests approvals: who approved; sign-offs missing; how many approvals are left
browse_merge_requests diffs: changed files; files changed; patch
browse_merge_requests list: pull requests; waiting for my review; open PRs; review requests
browse_merge_request_details reviewers: who reviews; who should review this; requested reviewers
browse_merge_request_details versions: pushes to a PR; patch sets; iterations of a change
browse_merge_request_details dependencies: which PRs must land first; blocked by
manage_merge_request_details add_dependency: must wait for another merge request; blocked by another PR; stacked
manage_merge_request_details add_to_merge_train: merge queue; join the queue; enqueue
manage_merge_request_details reset_approvals: withdraw all approvals
manage_review comment_line: leave a remark on a line of the diff; inline comment; review comment on code
manage_review apply: accept a suggested change; commit suggestion
manage_review submit_review: publish my pending review; request changes; finish review; submit comments
manage_discussion reply: answer a reviewer; respond to a comment
manage_discussion resolve: mark conversation as settled; resolve conversation; done
manage_discussion create_note: add a comment; comment on a ticket; write a comment
browse_discussions list: conversations; comments on a PR; open threads
browse_todos list: what am I supposed to work on today; my inbox; notifications; things to do; assigned to me
manage_todo mark_all_done: clear my inbox; mark all as read; inbox zero
manage_todo mark_done: mark notification as read; tick off
manage_subscription unsubscribe: mute; too many mails; stop watching; stop emails about a ticket
manage_subscription subscribe: watch; get notified; follow an issue
manage_notifications set: too many mails; mute a project; watch a repository; notification level
browse_iterations list: sprints; current sprint; cycles
browse_milestones list: fixVersions; versions; releases planned
browse_milestones issues: what is in the version; tickets of a fixVersion
manage_milestone create: add a fixVersion; plan a version
manage_milestone update: close the version; release a version; change due date of a milestone
browse_milestones burndown_events: burndown chart; sprint progress
manage_time_tracking add_spent_time: log work; book hours; worklog; timesheet
manage_time_tracking set_time_estimate: how long will it take; original estimate; remaining
browse_time_tracking get: hours logged; time booked
browse_boards issues: show the kanban board; what is in progress; sprint board
browse_boards list: boards; Plan > Issue boards
manage_board create_list: add a column; swimlane; new board column
manage_work_item create: subtask; sub-task; task list; objective; key result; break down into tasks; new story
manage_work_item set_parent: put under an epic; parent link; nest; make it a child
manage_work_item convert: change type; turn into; promote to epic; convert issue to incident
manage_epic create: initiative; theme; big feature
manage_epic add_issue: break an epic down; put a story in an epic; epic link
browse_issue_details label_events: who changed the label and when; label history
browse_issue_details state_events: who closed the ticket; when was it reopened; history of a ticket; changelog of an issue
browse_issue_details participants: who is involved
manage_reaction add: thumbs up; upvote; plus one; emoji; like
manage_label update: change the colour; make red; rename tag of issues
manage_label create: new component; new tag for issues; category
manage_upload create: attach a screenshot; upload an image; attachment
manage_release create: publish a new version; cut a release; ship a version
browse_releases changelog: write release notes from the commits; what is new
manage_release add_changelog: update CHANGELOG file; release notes
manage_release create_link: attach a binary; upload asset to a release; download link
browse_releases latest: newest version; current release
manage_tag create: git tag; tag a version
browse_tags list: git tags; versions
browse_registry list: docker images; container images; Deploy > Container registry
browse_registry tags: docker image tags; versions of an image
manage_registry delete_tags: delete old images; clean up registry; prune docker tags
manage_registry delete_tag: remove one image
browse_packages list: npm packages; maven artifacts; published packages; Deploy > Package registry
manage_package upload: publish a tarball; upload a file to the registry; generic package
manage_snippet create: gist; paste code; share a code fragment
browse_snippets list: gists; pastes
manage_wiki update: edit documentation page; change a confluence page
manage_wiki create: write documentation; new confluence page
browse_wikis get: read documentation; handbook page
manage_member add: give access; add a colleague; make somebody developer; grant; contractor; collaborator; until a date
manage_member remove: kick out; revoke access; offboard; take access away
manage_member update: make her a maintainer; change role; promote; extend access
manage_member invite: invite by mail; contractor; onboard
browse_members who_can: who can push to main; who may merge; who has access; who is allowed
browse_members list: who is in the team; collaborators; people with access; Manage > Members
browse_members access_requests: who wants in; pending requests
manage_access_token create: token for automation; API token; project access token; Settings > Access tokens
manage_access_token create_personal: personal access token; PAT
manage_access_token rotate: renew a token; leaked token; rotate a leaked secret
manage_access_token revoke: invalidate; leaked token; kill a token
browse_access_tokens overview: which tokens expire soon; expiring; unused tokens
browse_deploy_access list_keys: deploy keys; read-only ssh keys of a repository; Settings > Repository > Deploy keys
manage_deploy_access add_key: deploy key; let a server pull
manage_deploy_access create_token: deploy token; pull images from a server; Settings > Repository > Deploy tokens
manage_approval_rule create: require two approvals; branch policy; minimum reviewers; required reviewers; Settings > Merge requests > Approvals
manage_approval_rule update_settings: author may not approve; dismiss stale approvals; reset approvals on push
browse_approval_rules list: who must approve; required approvals
manage_protected_branch create: nobody may push directly; lock main; branch policy; branch restriction; block force push
manage_protected_branch update: who may push; who may merge; allow force push; unlock
browse_protected_branches list: branch policies; branch permissions; Settings > Repository > Protected branches; rulesets
manage_push_rules create: reject commits without ticket number; commit message regex; require signed commits; enforce commit message
manage_push_rules update: reject commits without ticket number; commit message must match; branch name rules
manage_webhook create: service hook; call our endpoint on push; notify a URL; callback
browse_webhooks list: Settings > Webhooks; callbacks
manage_webhook test: fire a test event; ping webhook
manage_job_token_scope add_project: let another project's jobs clone; allowlist; Settings > CI/CD > Job token permissions
manage_key add_ssh: my public ssh key; authorized key
browse_keys list_ssh: my ssh keys
manage_project archive: make read only; freeze a repository; retire; decommission
manage_project create: new repository; set up a repo; git init
manage_project fork: copy a repo; fork repository
manage_project delete: remove a repository; destroy
manage_project_settings update: rename the repository; change default branch; change description; visibility; make public; make private; turn off issues; settings; squash option; merge method; Settings > General; Settings > Merge requests; delete branch on merge
manage_project_settings transfer: hand over to another group; move repository; change owner
manage_project_settings share: give a group access; invite a group
manage_project_settings export: back up a project; download project; backup
manage_project_settings housekeeping: git gc; repack; garbage collection
browse_projects list: repositories; my repos; all projects
browse_projects get: repository details; default branch; clone url; readme
browse_projects languages: programming languages; which language is it written in
manage_group create: team space; organization; workspace; subgroup; folder for projects
manage_group share: give a group access to a group
browse_groups list: organizations; teams; workspaces
manage_service_account create: bot user; machine user; technical account
manage_service_account create_role: custom permissions; custom role
browse_vulnerabilities list: known CVEs; security issues; findings; security report; Secure > Vulnerability report
manage_vulnerability dismiss: false positive; accept the risk; not exploitable; ignore a finding
manage_vulnerability export_dependencies: software bill of materials; SBOM; CycloneDX
browse_dependencies list: third-party libraries; licences; open source components; Secure > Dependency list
browse_audit_events list: who deleted; who changed the settings; audit log; who did what; Secure > Audit events
browse_code_owners owners: who owns a file; CODEOWNERS; who is responsible for this code
browse_code_owners merge_request: whose approval is needed by path; who should review this
browse_compliance frameworks: compliance labels; soc2; gdpr; iso
browse_analytics dora: deployment frequency; lead time for changes; change failure rate; time to restore; mttr
browse_analytics project_flow: cycle time; lead time; velocity; throughput
browse_analytics group_flow: cycle time of the team; lead time of a team; velocity of the team
browse_analytics contributions: who contributes most; activity of team members; most active people
browse_analytics code_review: slow reviews; how long do reviews take; PR age
browse_project_details contributors: who commits most; top committers; who contributes most
browse_project_details starrers: who starred; how many stars
browse_project_details forks: copies of the repository
browse_project_details remote_mirrors: where is it mirrored to; mirror status
browse_project_details badges: shields in the readme
browse_project_details templates: issue templates; pull request templates
browse_instance_details templates: license templates; gitignore templates; Dockerfile templates; ci templates
browse_instance_details statistics: how many users does the instance have; usage
browse_instance_details broadcast_messages: announcements; banners
browse_user_details status: busy; out of office; away
browse_user_details starred_projects: favourite projects; bookmarks
browse_user_details memberships: which groups is somebody in; offboarding check
run_batch run: several calls at once; bulk; many requests in one
POST /projects/{}/badges: add a shield to the readme; new badge
GET /projects/{}/integrations: Settings > Integrations; connected services; plugins; active integrations
PUT /application/settings: disable sign ups; instance configuration; admin settings; turn off registration
GET /application/settings: is sign-up open; instance configuration; admin settings; Admin > Settings
POST /users: create an account; new user; add a person to the instance; provision
DELETE /users/{}: remove an account; erase a person
PATCH /users/{}/disable_two_factor: lost phone; reset 2FA; locked out
POST /users/{}/deactivate: somebody left; dormant account; suspend account
POST /users/{}/block: suspend a user; lock an account; stop somebody from logging in
POST /users/{}/ban: spammer; abuse
PUT /user/status: busy; out of office; away
PATCH /user/status: busy; out of office; away
PUT /user/avatar: profile picture; photo
POST /user/emails: second e-mail address; alias
POST /projects/{}/mirror/pull: fetch from upstream now; update the mirror; sync pull mirror
POST /projects/{}/remote_mirrors: mirror to another host; push to GitHub; backup repository elsewhere
POST /projects/{}/remote_mirrors/{}/sync: push now; sync mirror now
POST /projects/{}/triggers: token so that another system can start pipelines; trigger pipelines from outside
POST /bulk_imports: migrate groups from another GitLab; direct transfer
POST /projects/import: restore a project from an export file; import a tarball; restore backup
GET /projects/{}/repository/archive: download source as zip or tar; tarball of the repository; source code archive
GET /projects/{}/repository/blobs/{}/raw: raw blob by sha
PUT /projects/{}/repository/submodules/{}: bump a git submodule; point a submodule to a commit
GET /license: license of the instance; subscription; how many seats do we have
POST /license: upload a new license; activate
POST /applications: oauth application; oidc client; single sign on for another app
POST /markdown: render markdown as html; preview markdown
GET /groups/{}/billable_members: which members cost a seat; paid users; seats used
PUT /application/appearance: custom logo; look of the sign-in page; branding
DELETE /projects/{}/pages: unpublish the website; take the site down
GET /projects/{}/pages: where is the static site published; site settings; Deploy > Pages
POST /projects/{}/pages/domains: custom domain; own domain for the website
POST /projects/{}/cluster_agents: register a kubernetes agent; connect a cluster
POST /projects/{}/catalog/publish: publish a component
POST /projects/{}/secure_files: upload a provisioning profile, keystore or signing certificate
PUT /projects/{}/resource_groups/{}: only one deployment at a time; concurrency; process mode
GET /projects/{}/resource_groups: only one deployment at a time; concurrency limits; mutex
DELETE /groups/{}/dependency_proxy/cache: purge the cache
""".strip().splitlines()
    )
}

PATHS: Final[Mapping[str, tuple[str, ...]]] = _lines("""
cluster_agents: kubernetes, k8s, cluster, agentk
terraform/state: terraform, tofu, remote state
integrations: connect, plugin, service, settings
integrations/slack: chat, notification
integrations/gitlab-slack-application: slack, chat, notification
integrations/microsoft-teams: chat, notification, teams
integrations/jira: tracker, ticket, atlassian
integrations/jenkins: build server
integrations/pipelines-email: build mail
pages: static site, website, hosting
pages/domains: custom domain, certificate, tls, https
hooks: webhook
events: delivery, deliveries, recent
resend: again, redeliver
bulk_imports: migration, direct transfer
import: migrate
remote_mirrors: push mirror
mirror/pull: pull mirror, upstream
triggers: trigger token
application/settings: instance settings, administration
application/appearance: logo, branding, theme
broadcast_messages: announcement, banner, maintenance
users: account, administration
impersonation_tokens: impersonate, act as
award_emoji: reaction, emoji
secure_files: keystore, certificate, provisioning profile, signing
error_tracking: sentry
ldap_group_links: ldap, active directory
saml_group_links: saml, sso
saml: sso, single sign on
scim: provisioning, sso
billable_members: seat, license, paid
pending_members: waiting, approval
custom_attributes: metadata of a user
topics: topic
sidekiq: background queue, worker
license: license key, subscription, seats
repository_storage_moves: gitaly, shard, storage
metric_images: screenshot, alert, incident
packages/protection: protect packages, overwrite, deletion
registry/protection: protect images, container, overwrite
protected_environments: deploy approvals, who may deploy
resource_groups: concurrency, mutex
placeholder_reassignments: imported users
export: backup
ssh_certificates: ssh certificate authority
enterprise_users: company accounts
feature_flags: toggle
features: internal feature switch of the instance
virtual_registries: proxy, upstream registry
dependency_proxy: docker hub cache
ml: machine learning, mlflow, model
debian_distributions: apt
alert_management_alerts: alert, incident
security_policy: policy
service_accounts: bot
access_tokens: token
suggestions: suggested change
geo: replication
model_registry: machine learning
avatar: picture, logo
""")

VERBS: Final[Mapping[str, str]] = {
    word: kind
    for kind, words in {
        "create": "create add new make open file raise register set_up setup write post upload attach invite publish"
        " request generate issue report insert start submit",
        "update": "update edit change rename modify set adjust pause configure mark turn_on turn_off enable disable"
        " close reopen assign toggle patch replace put",
        "delete": "delete remove drop kick revoke purge clear destroy unlink erase wipe unpublish take_down"
        " tear_down unregister prune clean",
        "read": "read show list get see view find display fetch check look count who why whose inspect browse"
        " describe search many",
    }.items()
    for word in words.split()
}  # fmt: skip
"""What kind of call a verb asks for. Other verbs name an action, and are words like others."""
