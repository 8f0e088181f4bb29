// Generated from docs/openapi.json by `npm run gen` in sdk/typescript. Do not edit.

export interface paths {
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Numbers for Prometheus. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the agents that can be started, with what they really can do. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AgentList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the processes of all agents. Their sessions can be resumed; no other agent starts until the
         *     server has been started again.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AgentsStopped"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List asks.
         * @description Pending ones oldest first, others newest first. `seq` is the place to stream from.
         */
        get: {
            parameters: {
                query?: {
                    /** @description `pending`, `resolved`, or one outcome; all if it is left out. */
                    status?: string;
                    /** @description Only asks of this session. */
                    session?: string;
                    /** @description Only asks of this kind. */
                    kind?: components["schemas"]["AskKind"];
                    /** @description Only asks with this label, as `key=value`. */
                    label?: string;
                    /** @description Only asks of this agent. */
                    agent?: string;
                    /** @description Only asks of this directory and below. */
                    project?: string;
                    /** @description Only asks that were opened then or later. */
                    since?: string;
                    /** @description Only asks that were opened before then. */
                    until?: string;
                    /** @description Only asks with these words in what was asked, said or decided; letters in any case. */
                    q?: string;
                    /** @description Only the ask whose id ends like this. */
                    idEndsWith?: string;
                    /** @description How many at most, 1 to 500. */
                    limit?: number;
                    /** @description Where the last page ended. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AskPage"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Open an ask: questions, an approval or a link. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewAsk"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Take back the pending ask that you opened with this `dedupeKey`. */
        delete: {
            parameters: {
                query: {
                    /** @description The `dedupeKey` of the ask. */
                    dedupeKey: string;
                    /** @description Why, in words for people. */
                    reason?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one ask, and wait for its outcome if you like. */
        get: {
            parameters: {
                query?: {
                    /** @description Wait up to this long (at most 60s) for an outcome, e.g. `30s`. */
                    wait?: string;
                    /** @description Add the agent's request as it arrived. */
                    raw?: boolean;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Take back an ask that you opened. */
        delete: {
            parameters: {
                query?: {
                    /** @description Why, in words for people. */
                    reason?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer the questions of an ask. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AnswerRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve a tool call, or say that a link was opened. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ApproveRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deny a tool call, or a link. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NoRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the files that the command of an approval executes, as they are now.
         * @description For tokens that may answer, and only in sessions that this server started: other asks have no content.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AskFiles"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/precedents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count what people decided before about the same action as this approval. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Precedents"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/receipt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take the outcome of an ask that you opened: it counts as delivered from then on.
         * @description A secret answer comes in clear, this once, and is deleted.
         */
        post: {
            parameters: {
                query?: {
                    /**
                     * @description A name that you choose for this take. An approval is given to one taker only, others get 409 `outcome_taken`; the same
                     *     taker may repeat the call.
                     */
                    taker?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject the questions of an ask. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NoRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/snooze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Hide an ask from the inbox for a while. Not a no. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SnoozeRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/attachments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Listen to a server of an agent that somebody else started. One that cannot be reached is not kept. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewAttachment"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Attachment"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/attachments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Stop listening to a server. Its sessions end here; whoever runs it is not disturbed. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream every event that the token sees, as server-sent events. */
        get: {
            parameters: {
                query?: {
                    /** @description Begin after this `seq`; the header `Last-Event-ID` comes first. Without either, begin now. */
                    since?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A stream of `Event` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Event"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/external": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell what happened where a person runs an agent themselves.
         * @description What was decided there is withdrawn here. A session that is not known has nothing to withdraw.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ExternalNews"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ExternalNewsTaken"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the asks of one pause of a suspended run.
         * @description All asks are opened or none. The reply is 200 if an earlier call with the same `key` opened the group.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewGroup"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim a complete group: you may resume the run, and nobody else may.
         * @description The reply is 204 if no group of the name is complete. Acknowledge before the lease ends, or renew it. Groups belong to the
         *     token that opened them.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ClaimRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Claim"];
                    };
                };
                /** @description No group is complete */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait until a group can be claimed.
         * @description The wait claims nothing. Of several workers that wait, one is woken for each group.
         */
        get: {
            parameters: {
                query: {
                    /** @description The name of the runs. */
                    name: string;
                    /** @description Wait up to this long (at most 60s) for a complete group, e.g. `30s`. */
                    wait?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReadyGroups"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a group that you opened. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Take back a group that you opened: its pending asks are withdrawn, and its state is deleted. */
        delete: {
            parameters: {
                query?: {
                    /** @description Why, in words for people. */
                    reason?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Report that the run was resumed. The state is deleted, and the outcomes count as delivered. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AckRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a claim back.
         * @description With `started` the run may have called tools: a person decides whether it is resumed again, unless the group has `retry`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReleaseRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Extend the lease of a claim. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RenewRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the server is up. Needs no token. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Health"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listeners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the addresses at which the server is reached. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListenerList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Open the server to a network, until it is closed or the server ends. What is open already stays as it is. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewListener"] | null;
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listener"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listeners/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Close an address that was opened. Whoever is connected there is cut off. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    address: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Redeem a code for a token of this browser. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LoginRequest"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CreatedToken"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a code that opens the page in a browser, once, within ten minutes. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewLoginCode"] | null;
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoginCode"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say something to people, and wait for nothing. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewNotice"];
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the channels, without their secrets. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChannelList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notify/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test note through one channel, or all of them. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TestChannels"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TestedList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/outcomes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the outcomes of the asks that you opened, as server-sent events: `question.resolved`, `approval.resolved` and
         *     `link.resolved`.
         * @description One stream serves any number of waiting asks. While it is open, asks with `keep` are not parked. Without `since` the
         *     stream begins with a `reset`, which has the position: read the asks that you wait for once, then follow the stream.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Begin after this `seq`; the header `Last-Event-ID` comes first. Without either, begin now. */
                    since?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A stream of `Event` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Event"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the policy in force. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PolicyView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /**
         * Write another text into the policy file. It is in force at once.
         * @description A text that cannot be used is refused with its place, and the file stays as it is. So it does when somebody else wrote
         *     it meanwhile: read it again then.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetPolicy"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PolicyView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the text of a policy without saving it, and read it as a form.
         * @description Comments and everything that a change is not about stay as they are. Save the text with `PUT /v1/policy`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["EditPolicy"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PolicyForm"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask what a policy does: to one ask, to what is pending, or to past asks. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ExplainRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Explanation"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Allow something for a while. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewGrant"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Grant"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/grants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Take a grant back. It ends at once. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/hits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count how often each rule decided an ask or left it to a person. */
        get: {
            parameters: {
                query?: {
                    /** @description Days back from now, 1 to 366. 30 if it is missing. */
                    days?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RuleHitsList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Switch a profile on or off. */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetProfile"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PolicyView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/trust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Trust a project's `.sayso.toml` as it is now. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TrustRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Trusted"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The key that a browser needs to ask for being woken. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PushInfo"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Wake this browser when something waits, until its token is revoked. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewPush"];
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Do not wake this browser any more. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs, newest first. */
        get: {
            parameters: {
                query?: {
                    /** @description Only runs that are not over. */
                    open?: boolean;
                    /** @description Only the run whose id ends like this. */
                    idEndsWith?: string;
                    /** @description How many at most, 1 to 500. */
                    limit?: number;
                    /** @description Where the last page ended. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RunPage"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Start a run of a workflow. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewRun"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one run: its steps, their outputs, and what it waits for in full. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a run: its agents are stopped, and what it asked is withdrawn. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/questions/{qid}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer or reject what a run waits for: a question of its agents, or a checkpoint. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    qid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RunAnswerRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RunAnswered"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sessions, newest first. */
        get: {
            parameters: {
                query?: {
                    /** @description Only sessions that are not over. */
                    open?: boolean;
                    /** @description Only sessions with this label, as `key=value`. */
                    label?: string;
                    /** @description Only the session whose id ends like this. */
                    idEndsWith?: string;
                    /** @description How many at most, 1 to 500. */
                    limit?: number;
                    /** @description Where the last page ended. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionPage"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Start a session. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewSession"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one session with its pending asks. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** End a session. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change the permission mode or the model while the session runs.
         * @description The session has the new ones as soon as the agent confirms them: a `session.status` event says so. If the agent refuses,
         *     an `error` event says why.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChangeSession"];
                };
            };
            responses: {
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/v1/sessions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream the events of one session. */
        get: {
            parameters: {
                query?: {
                    /** @description Begin after this `seq`; the header `Last-Event-ID` comes first. Without either, begin now. */
                    since?: number;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A stream of `Event` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Event"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/interrupt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop the current turn. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say something to the agent. It answers the one open question, or it is a prompt. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MessageRequest"];
                };
            };
            responses: {
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MessageAccepted"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take up a session that is over. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the transcript of a session. */
        get: {
            parameters: {
                query?: {
                    /** @description How many blocks at most, 1 to 500. */
                    limit?: number;
                    /** @description Where the last page ended. */
                    cursor?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Transcript"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve a tool call. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ToolCallRef"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ok"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deny a tool call. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ToolCallRef"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ok"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/questions/{qid}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject a question of a session. The body may be empty. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                    qid: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/questions/{qid}/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reply to a question of a session. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                    qid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["QuestionReplyRequest"];
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream a session as `{type, data}`. A late client first gets what is pending. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A stream of `GatewayEvent` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["GatewayEvent"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/submit-answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer the questions of a tool call, by position. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SubmitAnswers"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ok"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tokens, without their secrets. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TokenList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Make a token. Its secret is shown this once. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CreatedToken"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a token. It ends at once. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Token"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Reports that the run was resumed. The state is deleted. */
        AckRequest: {
            /**
             * Format: int64
             * @description The epoch of the claim.
             */
            epoch: number;
        };
        /**
         * @description What a tool call would do, said the same way for every agent.
         * @enum {string}
         */
        ActionKind: "run" | "edit" | "read" | "fetch" | "mcp" | "plan" | "mode" | "other";
        /** @description A profile that is active. */
        ActiveProfile: {
            /** @description Its name. */
            name: string;
            /**
             * Format: date-time
             * @description Until when.
             */
            until?: string | null;
        };
        /** @description Who decided. */
        Actor: {
            /** @description `person`, `policy`, `timeout`, `message` or `agent`. */
            kind: string;
            /** @description The person's name. */
            name?: string | null;
            /** @description The surface that was used: `terminal`, `page`, `http` … */
            via?: string | null;
            /** @description The token that was used. */
            tokenId?: string | null;
            /** @description The rule that decided. */
            rule?: string | null;
            /** @description How long was waited. */
            after?: string | null;
        };
        /** @description An agent that can be started. */
        Agent: {
            /** @description Its name. */
            name: string;
            /** @description How it is reached. */
            protocol: string;
            /** @description Whether its program is there, in the server's `PATH`. */
            installed: boolean;
            /** @description The command that is run. */
            command?: string | null;
            /** @description How to get it. */
            install?: string | null;
            /** @description What it can do. */
            capabilities: components["schemas"]["Capabilities"];
            /** @description Those that somebody else started and that Sayso listens to. */
            attached?: components["schemas"]["Attachment"][];
        };
        /** @description The agents. */
        AgentList: {
            /** @description The agents. */
            data: components["schemas"]["Agent"][];
        };
        /** @description A question of a step's agent has its outcome: by a person, a rule, the policy or a timeout. */
        AgentQuestionAnsweredEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_question_answered";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["QuestionAnswered"];
        };
        /** @description The agent of a step asks a person. */
        AgentQuestionAskedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_question_asked";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["QuestionAsked"];
        };
        /** @description What became of agents that were to end. */
        AgentsStopped: {
            /** @description How many were running. */
            stopped: number;
        };
        /** @description Answers the questions. */
        AnswerRequest: {
            /** @description One list of entries per question: option values or labels, or text. */
            answers: string[][];
            /** @description What to add. */
            note?: string | null;
        };
        /** @description May I use this tool with this input. */
        Approval: {
            /** @description The agent's own name of the tool. */
            tool: string;
            /** @description What it would do. */
            action: components["schemas"]["ActionKind"];
            /** @description The command line, for `run`. */
            command?: string | null;
            /** @description The files, for `edit` and `read`. */
            paths?: string[];
            /** @description The address, for `fetch`. */
            url?: string | null;
            /** @description The MCP server, for `mcp`. */
            server?: string | null;
            /** @description One line that says what is wanted. */
            title?: string;
            /** @description The tool's input, verbatim. */
            input?: Record<string, unknown>;
            preview?: components["schemas"]["Preview"] | null;
            /** @description The agent's own ways to say yes. */
            choices?: components["schemas"]["Choice"][];
            /** @description Whether the agent takes a changed input. */
            editable?: boolean;
            /** @description Why the agent asks. */
            reason?: string | null;
        };
        /**
         * @description What happens to an approval that no rule decides.
         * @enum {string}
         */
        ApprovalDefault: "allow" | "ask" | "deny";
        /** @description What holds for approvals when no rule fits. A field that is missing is taken from the scope below. */
        ApprovalDefaults: {
            policy?: components["schemas"]["ApprovalDefault"] | null;
            /** @description How long a person has; the approval is denied then. */
            timeout?: string | null;
            /** @description What a denied agent is told. */
            message?: string | null;
        };
        /** @description An approval waits for a person. */
        ApprovalRequestedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "approval.requested";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description An approval has its outcome. */
        ApprovalResolvedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "approval.resolved";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description Says yes. */
        ApproveRequest: {
            /**
             * @description One of the agent's own ways to say yes.
             * @default null
             */
            choice?: string | null;
            /** @description Use this input instead. */
            input?: Record<string, unknown> | null;
            /**
             * @description `digest` of the files that the person saw (`GET /v1/asks/{id}/files`). If they have changed, the reply is 409
             *     `content_changed`. Without it, they are compared with what they were when the ask was opened.
             * @default null
             */
            contentDigest?: string | null;
        };
        /** @description One ask. */
        Ask: {
            /** @description Its id. */
            id: string;
            /** @description The session, if it belongs to one. */
            sessionId?: string | null;
            /** @description The agent's name. */
            agent: string;
            /** @description The actor of the token that opened it, if a caller did. */
            askedBy?: string | null;
            /** @description Whether `agent` is only what the caller says: its token is not made for that agent. */
            agentReported?: boolean;
            /** @description `question`, `approval` or `link`. */
            kind: components["schemas"]["AskKind"];
            /** @description Where it stands. */
            status: components["schemas"]["AskStatus"];
            reach?: components["schemas"]["Reach"] | null;
            /** @description The agent's id of the tool call, else the ask's own id. */
            toolCallId: string;
            /** @description The session's title. */
            title: string;
            /** @description The project directory. */
            project?: string | null;
            /** @description The git branch. */
            branch?: string | null;
            /** @description The sub-agent that asks. */
            subagent?: string | null;
            /** @description What the agent said before. */
            context?: string | null;
            /** @description Whether the agent waits for it. */
            blocking: boolean;
            /**
             * Format: date-time
             * @description When it was opened.
             */
            openedAt: string;
            /**
             * Format: date-time
             * @description When it decides itself.
             */
            deadlineAt?: string | null;
            onTimeout?: components["schemas"]["OnTimeout"] | null;
            /**
             * Format: date-time
             * @description Hidden from the inbox until then.
             */
            snoozedUntil?: string | null;
            /** @description Labels. */
            labels: {
                [key: string]: string;
            };
            /** @description The workflow run. */
            runId?: string | null;
            /** @description The step of it. */
            stepId?: string | null;
            /** @description Why a person is asked. */
            why?: string | null;
            /** @description The questions. */
            questions?: components["schemas"]["Question"][];
            approval?: components["schemas"]["Approval"] | null;
            link?: components["schemas"]["Link"] | null;
            /**
             * @description SHA-256 of what is asked, as 64 hexadecimal digits: for an approval the tool, the command or arguments, the directory,
             *     the agent and the project. Cards show its first 12 digits.
             */
            digest?: string | null;
            executes?: components["schemas"]["ExecutedCode"] | null;
            outcome?: components["schemas"]["Outcome"] | null;
            delivery?: components["schemas"]["Delivery"] | null;
            /** @description Why it could not. */
            deliveryReason?: string | null;
            /** @description Set when a frame of the event stream left something out; the whole is at `GET /v1/asks/{id}`. */
            truncated?: boolean;
            /** @description The agent's request as it arrived (only when asked for with `raw=true`). */
            raw?: Record<string, unknown> | null;
        };
        /** @description The payload of `ask.delivery`. */
        AskDelivery: {
            /** @description The ask. */
            id: string;
            /** @description Whether the outcome has reached the agent. */
            delivery: components["schemas"]["Delivery"];
            /** @description Why it could not. */
            deliveryReason?: string | null;
        };
        /** @description The outcome of an ask came closer to the agent. */
        AskDeliveryEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "ask.delivery";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskDelivery"];
        };
        /** @description An ask in an event. */
        AskEvent: components["schemas"]["Ask"] & {
            question?: components["schemas"]["QuestionEventData"] | null;
        };
        /** @description One file. */
        AskFile: {
            /** @description Absolute. */
            path: string;
            /**
             * @description The beginning of the content, up to 16 KiB. Absent if the file is not text, or is not available: outside of the project,
             *     behind a link, larger than 1 MiB, or not there.
             */
            text?: string | null;
            /** @description Whether `text` leaves something out. */
            truncated?: boolean;
            /**
             * Format: int64
             * @description Bytes of the whole content.
             */
            size?: number | null;
            /** @description SHA-256 of the whole content. */
            digest?: string | null;
        };
        /** @description The files of an ask as they are now. Only for tokens that may answer. */
        AskFiles: {
            /** @description SHA-256 over all files. Send it as `contentDigest` with the approval. Absent if the server does not read the files. */
            digest?: string | null;
            /** @description The files, in the order of `executes`. Files that do not exist are left out if another one of the same name does. */
            files: components["schemas"]["AskFile"][];
            /** @description Whether the command also executes files that are not in the list. */
            unlisted?: boolean;
        };
        /**
         * @description `question`, `approval` or `link`.
         * @enum {string}
         */
        AskKind: "question" | "approval" | "link";
        /** @description A page of asks. */
        AskPage: {
            /** @description The asks: pending ones oldest first, others newest first. */
            data: components["schemas"]["Ask"][];
            /** @description Give it as `cursor` to get the next page. */
            nextCursor?: string | null;
            /**
             * Format: int64
             * @description The feed position that this list was read at: stream from here.
             */
            seq: number;
            /**
             * Format: int64
             * @description How many asks are pending in all that this token sees.
             */
            pending?: number | null;
            /** @description Whether the page ends early because it has many bytes, with fewer entries than `limit`. */
            truncated?: boolean;
        };
        /** @description The payload of `ask.parked`. */
        AskParked: {
            /** @description The ask. */
            id: string;
            /** @description Whether the agent still waits. */
            reach: components["schemas"]["Reach"];
        };
        /** @description An ask was parked, or is live again. */
        AskParkedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "ask.parked";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskParked"];
        };
        /** @description The payload of `ask.snoozed`. */
        AskSnoozed: {
            /** @description The ask. */
            id: string;
            /**
             * Format: date-time
             * @description Until when the inbox hides it; `null` when it is back.
             */
            snoozedUntil?: string | null;
        };
        /** @description An ask was snoozed, or is back. */
        AskSnoozedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "ask.snoozed";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskSnoozed"];
        };
        /**
         * @description Where an ask stands.
         * @enum {string}
         */
        AskStatus: "pending" | "answered" | "rejected" | "approved" | "denied" | "withdrawn";
        /** @description A server of an agent that somebody else started and that Sayso listens to. */
        Attachment: {
            /** @description Its id. */
            id: string;
            /** @description The agent's name. */
            agent: string;
            /** @description Where it is: an address, or the path of a socket. */
            place: string;
            /** @description How it stands. */
            state: components["schemas"]["AttachmentState"];
            /** @description Why it is not reached. */
            problem?: string | null;
            /** @description What it says that it is. */
            version?: string | null;
            /** @description What can be done with it from here. */
            capabilities: components["schemas"]["Capabilities"];
        };
        /**
         * @description How it stands with a server that somebody else started.
         * @enum {string}
         */
        AttachmentState: "connecting" | "connected" | "unreachable";
        /** @description What an agent can do. */
        Capabilities: {
            /** @description It asks questions. */
            questions: boolean;
            /** @description It asks before it uses tools. */
            approvals: boolean;
            /** @description It asks to leave planning. */
            plans: boolean;
            /** @description It shows forms and links. */
            elicitation: boolean;
            /** @description A session can be taken up again after it ended. */
            resume: boolean;
            /** @description Its pending asks stay answerable across a restart of the server. */
            survivesRestart: boolean;
            /** @description It takes a typed message as the answer to a set of questions. */
            messageAnswersSets: boolean;
            /** @description Its permission mode and model can be changed while a session runs. */
            changeSettings?: boolean;
        };
        /** @description The certificate that other devices see. */
        Certificate: {
            /** @description Its file. */
            file: string;
            /**
             * Format: date-time
             * @description When it ends.
             */
            expiresAt?: string | null;
            /** @description Why what stands in the files now is not used. */
            problem?: string | null;
        };
        /** @description Changes the permission mode or the model of a session. A field that is left out stays as it is. */
        ChangeSession: {
            /**
             * @description The agent's permission mode. Only admins choose one that skips approvals.
             * @default null
             */
            permissionMode?: string | null;
            /**
             * @description The model.
             * @default null
             */
            model?: string | null;
        };
        /** @description One channel, without its secrets. */
        Channel: {
            /** @description Its name. */
            name: string;
            /** @description What it is: `webhook`, `ntfy`, `telegram` … */
            kind: string;
            /** @description How long an ask waits before it is used; nothing if only another one leads to it. */
            after?: string | null;
            then?: components["schemas"]["Then"] | null;
            /** @description The hours in which it is silent. */
            quiet?: string | null;
            /** @description Whether it says what is asked, and not only who waits. */
            content: boolean;
            /** @description Whom its links are for. */
            person?: string | null;
            /** @description The receiver said that it is gone for good: nothing is sent until the server is started again. */
            gone: boolean;
            /** @description Why the last try failed, if it did. */
            lastFailure?: string | null;
        };
        /** @description All channels. */
        ChannelList: {
            /** @description In the order of the configuration. */
            data: components["schemas"]["Channel"][];
        };
        /**
         * @description What a checkpoint takes.
         * @enum {string}
         */
        CheckpointInput: "choice" | "text" | "number" | "yes-no";
        /** @description An option of a checkpoint: a label, or a label with its meaning. */
        CheckpointOption: string | {
            /** @description The label. */
            label: string;
            /** @description What it means. */
            description?: string | null;
        };
        /** @description One of the agent's own ways to say yes. */
        Choice: {
            /** @description What is sent back. */
            id: string;
            /** @description What a person reads. */
            label: string;
        };
        /** @description The right to resume one run. */
        Claim: {
            /** @description The group with the outcomes of its asks. Secret answers are in clear. */
            group: components["schemas"]["Group"];
            /**
             * Format: int64
             * @description Give it with every report. A later claim has a larger one.
             */
            epoch: number;
            /** @description The state that was stored with the group. */
            state?: string | null;
            /** @description The short text that was stored with the group. */
            resumeRef?: string | null;
        };
        /** @description Claims one complete group: the oldest of a name, or a certain one. */
        ClaimRequest: {
            /**
             * @description The oldest complete group of this name.
             * @default null
             */
            name?: string | null;
            /**
             * @description This group.
             * @default null
             */
            group?: string | null;
            /**
             * @description Your name of the worker. A person who decides about an uncertain claim reads it.
             * @default
             */
            worker?: string;
            /**
             * @description How long you have the group without a report, e.g. `60s` (the default), at most `1h`.
             * @default null
             */
            lease?: string | null;
        };
        /** @description A new token. The secret is shown this once. */
        CreatedToken: components["schemas"]["Token"] & {
            /**
             * @description The bearer token to send. Absent when the call repeats an earlier one with the same
             *     `Idempotency-Key`: a secret is shown once.
             */
            token?: string | null;
        };
        /**
         * @description Whether the outcome has reached the agent.
         * @enum {string}
         */
        Delivery: "queued" | "delivered" | "confirmed" | "withheld" | "undeliverable";
        /** @description Applies changes to a text, which may not be saved yet. Nothing is written. */
        EditPolicy: {
            /** @description The whole text of a policy. */
            text: string;
            /** @description The changes, in this order; at most 100. Without any the text is only read. */
            edits?: components["schemas"]["PolicyEdit"][];
        };
        /** @description The payload of `error`: the fault as a block of the transcript. */
        ErrorBlock: {
            /** @description The block's id. */
            id: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            at: string;
            /** @description The sub-agent that it belongs to. */
            subagent?: string | null;
            /** @description Always `error`. */
            type?: components["schemas"]["ErrorType"];
            /** @description What went wrong. */
            text: string;
        };
        /**
         * @description The stable codes. Clients decide by them, never by the words.
         * @enum {string}
         */
        ErrorCode: "malformed_request" | "invalid_request" | "unauthorized" | "forbidden" | "identity_refused" | "foreign_origin" | "foreign_host" | "not_found" | "ask_not_found" | "session_not_found" | "run_not_found" | "question_not_found" | "method_not_allowed" | "ask_already_resolved" | "content_changed" | "ask_pending" | "wrong_kind" | "invalid_answers" | "invalid_link" | "link_expired" | "session_ended" | "run_ended" | "not_resumable" | "settings_fixed" | "not_decided" | "external_session" | "idempotency_key_reused" | "dedupe_key_reused" | "outcome_taken" | "group_not_found" | "group_not_ready" | "group_ended" | "claim_lost" | "state_unreadable" | "unknown_callback" | "limit_exceeded" | "too_large" | "byte_quota_exceeded" | "request_timeout" | "rate_limited" | "invalid_policy" | "policy_changed" | "invalid_workflow" | "unknown_agent" | "agent_not_installed" | "agent_unreachable" | "directory_not_allowed" | "storage_full" | "shutting_down" | "internal";
        /** @description Something went wrong in a session. */
        ErrorEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "error";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["ErrorBlock"];
        };
        /**
         * @description The `type`.
         * @enum {string}
         */
        ErrorType: "error";
        /** @description One event as it stands in `data:` of a stream. Ignore a `type` that you do not know. */
        Event: components["schemas"]["QuestionRequestedEvent"] | components["schemas"]["QuestionResolvedEvent"] | components["schemas"]["ApprovalRequestedEvent"] | components["schemas"]["ApprovalResolvedEvent"] | components["schemas"]["LinkRequestedEvent"] | components["schemas"]["LinkResolvedEvent"] | components["schemas"]["AskParkedEvent"] | components["schemas"]["AskSnoozedEvent"] | components["schemas"]["AskDeliveryEvent"] | components["schemas"]["SessionCreatedEvent"] | components["schemas"]["SessionStatusEvent"] | components["schemas"]["SessionEndedEvent"] | components["schemas"]["MessageDeltaEvent"] | components["schemas"]["MessageCompletedEvent"] | components["schemas"]["ToolStartedEvent"] | components["schemas"]["ToolUpdatedEvent"] | components["schemas"]["ToolCompletedEvent"] | components["schemas"]["NoticeEvent"] | components["schemas"]["ErrorEvent"] | components["schemas"]["PolicyChangedEvent"] | components["schemas"]["RunStartedEvent"] | components["schemas"]["RunCompletedEvent"] | components["schemas"]["RunFailedEvent"] | components["schemas"]["RunCancelledEvent"] | components["schemas"]["StepStartedEvent"] | components["schemas"]["StepCompletedEvent"] | components["schemas"]["StepFailedEvent"] | components["schemas"]["StepCancelledEvent"] | components["schemas"]["AgentQuestionAskedEvent"] | components["schemas"]["AgentQuestionAnsweredEvent"] | components["schemas"]["ResetEvent"];
        /** @description The code of the project that a command executes, as far as its words name it. */
        ExecutedCode: {
            /** @description Absolute paths, at most eight. */
            files: string[];
            /** @description Whether it also executes files that are not in the list: of a build tool, or with a name that the shell computes. */
            unlisted?: boolean;
            /** @description Whether the server reads the files: only in sessions that it started. */
            readable?: boolean;
        };
        /** @description Asks what a policy does: to one ask, to past asks, or to what is pending. */
        ExplainRequest: {
            /**
             * @description Explain this ask.
             * @default null
             */
            askId?: string | null;
            /**
             * @description Try this policy text instead of the one in force.
             * @default null
             */
            policy?: string | null;
            /**
             * @description Explain what it does to the asks that are pending.
             * @default false
             */
            pending?: boolean;
            /**
             * Format: int32
             * @description Explain what it would have done to the last asks, at most this many (1 to 1000).
             * @default null
             */
            history?: number | null;
        };
        /** @description What a policy does to one ask. */
        Explained: {
            /** @description The ask. */
            askId: string;
            /** @description One line that says what it is. */
            summary: string;
            /** @description What became of it. */
            status: components["schemas"]["AskStatus"];
            /** @description `approve`, `deny`, `answer`, `reject` or `ask`. */
            verdict: string;
            /** @description The rule or setting, or why a person is asked. */
            because: string;
            /** @description Every rule that was looked at (one ask only). */
            considered?: Record<string, unknown> | null;
        };
        /** @description What a policy does. */
        Explanation: {
            /** @description One entry per ask. */
            data: components["schemas"]["Explained"][];
            /** @description Whether some asks are left out, because they have many bytes or because explaining takes too long. */
            truncated?: boolean;
        };
        /**
         * @description What happened where a person runs an agent themselves.
         * @enum {string}
         */
        ExternalEvent: "toolDone" | "prompted" | "turnEnded" | "ended";
        /** @description News of a session of an agent that a person runs themselves. What was decided there is withdrawn here. */
        ExternalNews: {
            /** @description The agent's name. */
            agent: string;
            /** @description The agent's own id of the session. */
            sessionId: string;
            /** @description What happened. */
            event: components["schemas"]["ExternalEvent"];
            /** @description How the `dedupeKey` of the asks about such a tool call begins; for `toolDone`. */
            dedupeKey?: string | null;
        };
        /** @description What became of the news. */
        ExternalNewsTaken: {
            /** @description The asks that were withdrawn. */
            withdrawn: string[];
        };
        /** @description A session of an agent that a person runs themselves, as it knows itself. */
        ExternalSession: {
            /** @description The agent's name, e.g. `claude`. */
            agent: string;
            /** @description The agent's own id of the session. */
            sessionId: string;
            /** @description The directory it works in, absolute. The project's policy file is read there. */
            cwd: string;
            /** @description The first line of the first prompt. */
            title?: string | null;
            /** @description The git branch; read from the directory if it is left out. */
            branch?: string | null;
        };
        /** @description The change to one file. */
        FileDiff: {
            /** @description The file. */
            path: string;
            /** @description A unified diff, verbatim. */
            diff: string;
        };
        /** @description One rule of a policy. */
        FormRule: {
            /** @description Its place, counted from 1. */
            place: number;
            /** @description What past decisions call it: its id, else its label. See `GET /v1/policy/hits`. */
            key: string;
            /** @description What people call it: its name, else its place. */
            label: string;
            /** @description The rule. */
            rule: components["schemas"]["PolicyRule"];
        };
        /** @description What the gateway's stream sends. */
        GatewayEvent: {
            /** @description The next piece of a message. */
            data: {
                /** @description The piece. */
                text: string;
            };
            /** @enum {string} */
            type: "text_delta";
        } | {
            /** @description A tool call began. */
            data: {
                /** @description The agent's id of the call. */
                toolCallId: string;
                /** @description The tool. */
                toolName: string;
            };
            /** @enum {string} */
            type: "tool_call_start";
        } | {
            /** @description What the tool is called with. */
            data: {
                /** @description The agent's id of the call. */
                toolCallId: string;
                /** @description JSON as text. */
                input: string;
            };
            /** @enum {string} */
            type: "tool_call_delta";
        } | {
            /** @description The call is complete. */
            data: {
                /** @description The agent's id of the call. */
                toolCallId: string;
            };
            /** @enum {string} */
            type: "tool_call_end";
        } | {
            /** @description What the tool gave. */
            data: {
                /** @description The agent's id of the call. */
                toolCallId: string;
                /** @description The tool. */
                toolName: string;
                /** @description Its output. */
                result: string;
                /** @description `complete` or `error`. */
                status: string;
            };
            /** @enum {string} */
            type: "tool_result";
        } | {
            /** @description A tool wants to be approved. */
            data: {
                /** @description The agent's id of the call. */
                toolCallId: string;
                /** @description The tool. */
                toolName: string;
                /** @description The input, JSON as text. */
                input: string;
            };
            /** @enum {string} */
            type: "approval_required";
        } | {
            /** @description Questions wait. */
            data: {
                /** @description The agent's id of the call. */
                toolCallId: string;
                /** @description The questions. */
                questions: components["schemas"]["QuestionItem"][];
            };
            /** @enum {string} */
            type: "question_prompt";
        } | {
            /** @description Something went wrong. */
            data: {
                /** @description What. */
                message: string;
            };
            /** @enum {string} */
            type: "error";
        } | {
            /** @description The turn is over. */
            data: {
                /** @description The session. */
                sessionId: string;
            };
            /** @enum {string} */
            type: "done";
        } | {
            /** @description The session changed what it is doing. */
            data: {
                /** @description The session. */
                sessionId: string;
                /** @description `running`, `waiting`, `idle`, `stalled`, `ended` or `failed`. */
                status: string;
            };
            /** @enum {string} */
            type: "session_status";
        };
        /** @description A rule that was given by hand for a while. */
        Grant: {
            /** @description Its id. */
            id: string;
            /** @description The commands that it allows. */
            run: string[];
            /** @description The files that may be changed. */
            edit?: string[];
            /** @description The files that may be read. */
            read?: string[];
            /** @description The addresses that may be fetched. */
            fetch?: string[];
            /** @description The tools of MCP servers. */
            mcp?: string[];
            /** @description The agent's own names of tools. */
            tool?: string[];
            /** @description Only in this project. */
            project?: string | null;
            /**
             * Format: date-time
             * @description Until when.
             */
            until?: string | null;
        };
        /** @description One group. The state is not part of it. */
        Group: {
            /** @description Its id. */
            id: string;
            /** @description The runs that it belongs to. */
            name: string;
            /** @description Your name of the pause. */
            key?: string | null;
            /** @description What it waits for. */
            status: components["schemas"]["GroupStatus"];
            /** @description Its asks, in the order in which they were given. */
            asks: components["schemas"]["Ask"][];
            /**
             * Format: int64
             * @description The number of the last claim; 0 if there was none.
             */
            epoch: number;
            /** @description The worker of the last claim, while it has the group or is uncertain. */
            worker?: string | null;
            /**
             * Format: date-time
             * @description The end of the lease.
             */
            leaseUntil?: string | null;
            /** @description The ask that decides about an uncertain claim. */
            uncertainAsk?: string | null;
            /** @description Whether another worker may claim it when a lease expires. */
            retry: boolean;
            /** @description The target that is called when it is complete. */
            callback?: string | null;
            /**
             * Format: date-time
             * @description When it was opened.
             */
            openedAt: string;
        };
        /**
         * @description What a group waits for.
         * @enum {string}
         */
        GroupStatus: "pending" | "ready" | "claimed" | "uncertain" | "acknowledged" | "abandoned" | "withdrawn" | "expired";
        /** @description How the server is. */
        Health: {
            /** @description `ok`, or `storage_full`. */
            status: string;
            /** @description The version of the server. */
            version: string;
        };
        /**
         * @description What happens to a step whose agent ends before its turn does.
         * @enum {string}
         */
        IfAgentDies: "fail" | "retry";
        /**
         * @description What happens to a message while asks are pending that it does not answer.
         * @enum {string}
         */
        IfPending: "refuse" | "queue";
        /**
         * @description What a question takes.
         * @enum {string}
         */
        InputKind: "choice" | "text" | "number" | "yesNo";
        /** @description An option in the gateway dialect. */
        ItemOption: {
            /** @description What a person reads, and what is sent back. */
            label: string;
            /** @description What it means. */
            description?: string | null;
        };
        /** @description Please open this address. */
        Link: {
            /** @description The whole address. */
            url: string;
            /** @description Why. */
            message?: string | null;
        };
        /** @description A link waits for a person. */
        LinkRequestedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "link.requested";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description A link has its outcome. */
        LinkResolvedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "link.resolved";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description One address at which the server listens. */
        Listener: {
            /** @description The address and port. */
            address: string;
            /** @description How to call it there. */
            url: string;
            /** @description Whether it is the server's own, which stays as long as the server does. */
            main: boolean;
        };
        /** @description Where the server is reached. */
        ListenerList: {
            /** @description The addresses, its own first. */
            data: components["schemas"]["Listener"][];
            /** @description The address that other devices use, if one is configured. */
            publicUrl?: string | null;
            /** @description The address of this machine in its network, if it is in one. */
            suggested?: string | null;
            certificate?: components["schemas"]["Certificate"] | null;
        };
        /** @description A code that opens the page in a browser, once. */
        LoginCode: {
            /** @description The code. */
            code: string;
            /** @description The address to open. */
            url: string;
            /**
             * Format: date-time
             * @description When it ends.
             */
            expiresAt: string;
        };
        /** @description Redeems a login code for a token of this browser. */
        LoginRequest: {
            /** @description The code. */
            code: string;
            /** @description What to call this browser. */
            device?: string | null;
        };
        /** @description What became of a message. */
        MessageAccepted: {
            /** @description The message's id in the transcript. */
            messageId: string;
            answered?: components["schemas"]["Ask"] | null;
        };
        /** @description The payload of `message.completed`: the message as a block of the transcript. */
        MessageBlock: {
            /** @description The block's id. */
            id: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            at: string;
            /** @description The sub-agent that it belongs to. */
            subagent?: string | null;
            /** @description Always `message`. */
            type?: components["schemas"]["MessageType"];
            /** @description Who speaks. */
            role: components["schemas"]["MessageRole"];
            /** @description The words. */
            text: string;
        };
        /** @description A message is complete. */
        MessageCompletedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.completed";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["MessageBlock"];
        };
        /** @description The payload of `message.delta`. */
        MessageDelta: {
            /** @description The message; `message.completed` has the same id. */
            messageId: string;
            /** @description The next piece of its text. */
            text: string;
        };
        /** @description The next piece of a message. Live only: it has no `seq` and is not stored. */
        MessageDeltaEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.delta";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["MessageDelta"];
        };
        /** @description Says something to the agent. */
        MessageRequest: {
            /** @description The words. */
            text: string;
            /** @description What happens while something is pending that a message does not answer. */
            ifPending?: components["schemas"]["IfPending"];
        };
        /**
         * @description Who speaks in a session.
         * @enum {string}
         */
        MessageRole: "user" | "assistant";
        /**
         * @description The `type`.
         * @enum {string}
         */
        MessageType: "message";
        /** @description Opens an ask: either `questions`, or `approval`, or `link`. */
        NewAsk: {
            /**
             * @description The session it belongs to.
             * @default null
             */
            sessionId?: string | null;
            /** @default null */
            external?: components["schemas"]["ExternalSession"] | null;
            /**
             * @description Who asks; the token's name if it is left out.
             * @default null
             */
            agent?: string | null;
            /**
             * @description One line that says what this is about.
             * @default null
             */
            title?: string | null;
            /**
             * @description The project directory.
             * @default null
             */
            project?: string | null;
            /**
             * @description The git branch.
             * @default null
             */
            branch?: string | null;
            /**
             * @description The sub-agent that asks.
             * @default null
             */
            subagent?: string | null;
            /**
             * @description The agent's id of the tool call.
             * @default null
             */
            toolCallId?: string | null;
            /**
             * @description What a person should know first.
             * @default null
             */
            context?: string | null;
            /**
             * @description The questions.
             * @default null
             */
            questions?: components["schemas"]["Question"][] | null;
            /** @default null */
            approval?: components["schemas"]["Approval"] | null;
            /** @default null */
            link?: components["schemas"]["Link"] | null;
            /**
             * @description Whether the caller waits for it (the default).
             * @default null
             */
            blocking?: boolean | null;
            /**
             * @description Labels.
             * @default {}
             */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description Only ask the policy: if it leaves the ask to a person, nothing is opened and the reply is 409 `not_decided`.
             * @default null
             */
            policyOnly?: boolean | null;
            /**
             * @description Two pending asks of one token with the same key are one ask, if they ask for the same thing; else 409 `dedupe_key_reused`.
             * @default null
             */
            dedupeKey?: string | null;
            /**
             * @description Keep it this long, e.g. `10m`, at most `90d`, when nobody waits for it any more; then it is withdrawn. Meanwhile a
             *     question is parked. Opening it again with the same `dedupeKey` goes on, also with an outcome that was not taken.
             * @default null
             */
            keep?: string | null;
            /**
             * @description Give up after this long, e.g. `10m`: questions are rejected, approvals denied.
             * @default null
             */
            timeout?: string | null;
        };
        /** @description A server to listen to. */
        NewAttachment: {
            /** @description The agent's name. */
            agent: string;
            /** @description Where it is: an address, or the path of a socket. */
            place: string;
            /** @description The name it knows us by, if it wants a password and the name is not its usual one. */
            user?: string | null;
            /** @description The password, if it wants one. It is kept in a file that only its owner may read, and never shown. */
            password?: string | null;
        };
        /** @description Allows something for a while. The patterns are those of a rule. */
        NewGrant: {
            /** @description Commands: `cargo test *`. */
            run?: string[];
            /** @description Files that are changed: `src/**`. */
            edit?: string[];
            /** @description Files that are read. */
            read?: string[];
            /** @description Addresses: `docs.rs`. */
            fetch?: string[];
            /** @description Tools of MCP servers: `server/tool`. */
            mcp?: string[];
            /** @description The agent's own names of tools: `WebSearch`. */
            tool?: string[];
            /** @description For how long, e.g. `1h`. Say this or `until`. */
            for?: string | null;
            /**
             * Format: date-time
             * @description Until when. Say this or `for`.
             */
            until?: string | null;
            /** @description Only in this project. */
            project?: string | null;
        };
        /** @description Opens the asks of one pause, all of them or none. */
        NewGroup: {
            /**
             * @description The runs that your workers resume, for example `mailer`. Workers claim groups by this name.
             * @default
             */
            name?: string;
            /**
             * @description Your name of the pause, for example run id and turn. Opening it again returns the same group, also after it has ended.
             * @default null
             */
            key?: string | null;
            /**
             * @description The asks. They have no `dedupeKey` and no `keep` of their own.
             * @default []
             */
            asks?: components["schemas"]["NewAsk"][];
            /**
             * @description Ids of asks that you opened before.
             * @default []
             */
            askIds?: string[];
            /**
             * @description What your worker needs to resume the run, at most 4 MiB. It is stored encrypted, nobody but your token gets it, and it is
             *     deleted when the claim is acknowledged.
             * @default null
             */
            state?: string | null;
            /**
             * @description A short text instead of a state, at most 256 bytes, for example the id of a thread whose state you store yourself.
             * @default null
             */
            resumeRef?: string | null;
            /**
             * @description A target of `[callbacks]` in `config.toml` that is called when the group is complete.
             * @default null
             */
            callback?: string | null;
            /**
             * @description Whether another worker may claim the group when a lease expires. Without it, a person decides, because the first
             *     worker may have called tools.
             * @default null
             */
            retry?: boolean | null;
            /**
             * @description How long asks wait for a person, and the complete group for a worker, e.g. `7d`; 30 days by default, at most `90d`.
             * @default null
             */
            keep?: string | null;
        };
        /** @description Opens the server to a network, until it is closed or the server ends. */
        NewListener: {
            /** @description The address of this machine there, with or without a port; the suggested one if it is absent. */
            address?: string | null;
        };
        /** @description Makes a login code. */
        NewLoginCode: {
            role?: components["schemas"]["Role"] | null;
        };
        /** @description Something that people should know, and that needs no answer. */
        NewNotice: {
            /** @description The words. */
            text: string;
            /** @description Who says it; the token's name if it is left out. */
            agent?: string | null;
            external?: components["schemas"]["ExternalSession"] | null;
        };
        /** @description A browser that wants to be woken: its subscription as it gives it. */
        NewPush: {
            /** @description Where its push service is. */
            endpoint: string;
            /** @description Its keys. */
            keys: components["schemas"]["PushKeys"];
        };
        /** @description Starts a run. */
        NewRun: {
            /** @description The workflow: the file as JSON, or the name of a file in the directory `workflows` beside `policy.toml`. */
            workflow: components["schemas"]["WorkflowSource"];
            /** @description What it is given. Numbers and yes or no are taken as text. */
            input?: {
                [key: string]: string;
            };
            /** @description Where its agents work, unless a step says otherwise; else what the workflow says, else home. */
            directory?: string | null;
            /** @description Labels; its sessions and asks have them too. */
            labels?: {
                [key: string]: string;
            };
            /** @description Variables of the caller for the agents; see `POST /v1/sessions`. */
            environment?: {
                [key: string]: string;
            } | null;
        };
        /** @description Starts a session. */
        NewSession: {
            /**
             * @description The agent's configured name, e.g. `mock`.
             * @default
             */
            agent: string;
            /**
             * @description The directory the agent works in; the home directory if it is left out.
             * @default null
             */
            cwd?: string | null;
            /**
             * @description The first prompt.
             * @default null
             */
            prompt?: string | null;
            /**
             * @description The agent's permission mode: `default` asks before tools are used.
             * @default null
             */
            permissionMode?: string | null;
            /**
             * @description The model.
             * @default null
             */
            model?: string | null;
            /** @description What this session adds to the policy, e.g. `{"questions":"forward"}`. */
            policy?: Record<string, unknown> | null;
            /**
             * @description Labels.
             * @default {}
             */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description Variables of the caller for the agent: `PATH` and keys; others are left out. Only an `admin`
             *     token may send any. They are kept in memory and never written down.
             * @default null
             */
            environment?: {
                [key: string]: string;
            } | null;
        };
        /** @description Makes a token. */
        NewToken: {
            /** @description What it may do. */
            role: components["schemas"]["Role"];
            /** @description The name of the person or program; it stands in every outcome. */
            actor: string;
            /** @description Only this session. */
            sessionId?: string | null;
            /** @description Only what has all these labels. The asks of an `agent` token have them, and no others. */
            labels?: {
                [key: string]: string;
            };
            /** @description For an `agent` token: the name of the agent. It may not call itself anything else. */
            agent?: string | null;
            /** @description For an `agent` token: the directory that the agent works in. It may not ask from anywhere else. */
            project?: string | null;
            /** @description Ends after this long, e.g. `12h`. */
            expiresIn?: string | null;
        };
        /** @description An empty object. */
        NoData: Record<string, unknown>;
        /** @description Says no: `reject` for questions, `deny` for approvals and links. */
        NoRequest: {
            /**
             * @description Why; the agent gets your words.
             * @default null
             */
            message?: string | null;
            /**
             * @description Whether the agent shall stop.
             * @default false
             */
            stop?: boolean;
        };
        /** @description The payload of `notice`. In a session it is a block of the transcript; otherwise it names who gave the notice. */
        Notice: {
            /** @description The block's id, in a session. */
            id?: string | null;
            /**
             * Format: date-time
             * @description When it was written, in a session.
             */
            at?: string | null;
            /** @description The sub-agent that it belongs to. */
            subagent?: string | null;
            type?: components["schemas"]["NoticeType"] | null;
            /** @description Who gave the notice, outside of sessions. */
            agent?: string | null;
            /** @description The words. */
            text: string;
        };
        /** @description An agent or a caller tells people something and waits for no answer. */
        NoticeEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "notice";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["Notice"];
        };
        /**
         * @description The `type`.
         * @enum {string}
         */
        NoticeType: "notice";
        /** @description It is done. */
        Ok: {
            /** @description Always true. */
            ok: boolean;
        };
        /**
         * @description What happens to the other steps of a group when one fails.
         * @enum {string}
         */
        OnFailure: "cancel" | "finish";
        /**
         * @description What happens when nobody answers in time.
         * @enum {string}
         */
        OnTimeout: "reject" | "accept-first" | "deny";
        /** @description How an ask ended. */
        Outcome: {
            /** @description How. */
            status: components["schemas"]["AskStatus"];
            /** @description The answers, one per question. */
            answers?: components["schemas"]["ShownAnswer"][] | null;
            /** @description What the person added. */
            note?: string | null;
            /** @description The words that the agent got with a no; the reason of a withdrawal. */
            message?: string | null;
            /** @description Whether the agent was told to stop. */
            stop?: boolean;
            /** @description Which of the agent's own ways to say yes was taken. */
            choice?: string | null;
            /** @description The input that was approved instead of the agent's. */
            input?: Record<string, unknown> | null;
            /** @description By whom. */
            by: components["schemas"]["Actor"];
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
        };
        /** @description The payload of `policy.changed`. */
        PolicyChanged: {
            /** @description The fingerprint of the rules in force. */
            fingerprint: string;
            /** @description Whether the policy file is valid. While it is not, the last valid policy stays in force. */
            valid: boolean;
        };
        /** @description Another policy is in force. */
        PolicyChangedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "policy.changed";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["PolicyChanged"];
        };
        /** @description One change to the text of a policy. Places count rules from 1. */
        PolicyEdit: {
            /** @description The rule. */
            rule: components["schemas"]["PolicyRule"];
            /** @enum {string} */
            kind: "addRule";
        } | {
            /** @description Which rule. */
            place: number;
            /** @description The whole rule. */
            rule: components["schemas"]["PolicyRule"];
            /** @enum {string} */
            kind: "setRule";
        } | {
            /** @description Which rule. */
            place: number;
            /** @enum {string} */
            kind: "removeRule";
        } | {
            /** @description Which rule. */
            place: number;
            /** @description The place that it has afterwards. */
            to: number;
            /** @enum {string} */
            kind: "moveRule";
        } | {
            /** @description For questions. */
            questions: components["schemas"]["QuestionDefaults"];
            /** @description For approvals. */
            approvals: components["schemas"]["ApprovalDefaults"];
            /** @enum {string} */
            kind: "setDefaults";
        } | {
            /** @description Its name. */
            name: string;
            /** @description For questions. */
            questions: components["schemas"]["QuestionDefaults"];
            /** @description For approvals. */
            approvals: components["schemas"]["ApprovalDefaults"];
            /** @enum {string} */
            kind: "setProfile";
        };
        /** @description A text of a policy and what it says. */
        PolicyForm: {
            /** @description The text after the changes. Save it with `PUT /v1/policy`. */
            text: string;
            /** @description When no rule fits a question. */
            questions: components["schemas"]["QuestionDefaults"];
            /** @description When no rule fits an approval. */
            approvals: components["schemas"]["ApprovalDefaults"];
            /** @description The rules, in their order. */
            rules: components["schemas"]["FormRule"][];
            /** @description Settings to switch on for a while, such as `away`. */
            profiles: {
                [key: string]: components["schemas"]["ProfileDefaults"];
            };
        };
        /** @description One rule. All conditions that it names have to hold together. */
        PolicyRule: {
            /** @description Identifies the rule in past decisions. The server makes one for a rule that is added or changed without. */
            id?: string | null;
            /** @description What people call it. */
            name?: string | null;
            /** @description What it does. */
            do: components["schemas"]["RuleEffect"];
            /** @description Commands: `git diff *`. */
            run?: string[];
            /** @description Files that are changed: `src/**`, `!migrations/**`. */
            edit?: string[];
            /** @description Files that are read. */
            read?: string[];
            /** @description Addresses: `docs.rs`. */
            fetch?: string[];
            /** @description Tools of MCP servers: `server/tool`. */
            mcp?: string[];
            /** @description The agent's own names of tools. */
            tool?: string[];
            /** @description Only for these agents. */
            agent?: string[];
            /** @description Only in this directory and below. */
            project?: string | null;
            /** @description A part of a question's header, ignoring case, or `/regex/`. */
            header?: string | null;
            /** @description The same for the header or the text of a question. */
            match?: string | null;
            /** @description The answer: labels of options, or text. */
            answer?: string[];
            /** @description Chooses this option, counted from 1. */
            pick?: number | null;
            /**
             * Format: date-time
             * @description The rule does nothing from then on.
             */
            until?: string | null;
            /** @description What the agent is told. */
            message?: string | null;
        };
        /** @description The policy in force. */
        PolicyView: {
            /** @description The file it is read from. */
            path: string;
            /** @description Its text. */
            text: string;
            /** @description What is wrong with the text; then the last good policy is in force. */
            error?: string | null;
            /** @description The fingerprint of the rules in force. */
            fingerprint: string;
            /** @description The fingerprint of the text; say it when you write another one. */
            textFingerprint?: string;
            profile?: components["schemas"]["ActiveProfile"] | null;
            /** @description Rules that were given by hand for a while. */
            grants: components["schemas"]["Grant"][];
        };
        /** @description What people decided before about the same action: the same tool with the same command, files or address. */
        Precedents: {
            /** @description How often people approved it, among the newest 2000 asks. */
            approved: number;
            /** @description How often people denied it. */
            denied: number;
            /**
             * Format: date-time
             * @description When a person last decided it.
             */
            lastAt?: string | null;
        };
        /** @description What a person looks at before deciding. */
        Preview: {
            /** @description The line. */
            command: string;
            /** @description Where it would run. */
            cwd?: string | null;
            /** @enum {string} */
            type: "command";
        } | {
            /** @description One entry per file. */
            files: components["schemas"]["FileDiff"][];
            /** @enum {string} */
            type: "diff";
        } | {
            /** @description Its text. */
            text: string;
            /** @enum {string} */
            type: "plan";
        } | {
            /** @description The text. */
            text: string;
            /** @enum {string} */
            type: "text";
        };
        /** @description An error. */
        Problem: {
            /** @description Always `about:blank`: the code says it all. */
            type?: string;
            /** @description A short name of the error. */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status.
             */
            status: number;
            /** @description What happened and what to do. */
            detail: string;
            /** @description The stable code. */
            code: components["schemas"]["ErrorCode"];
            /** @description The same as `detail`, for clients that look for this name. */
            error?: string | null;
            outcome?: components["schemas"]["Outcome"] | null;
            /** @description Whether an earlier call with this token brought that outcome. */
            own?: boolean | null;
            /** @description What is wrong, question by question. */
            problems?: components["schemas"]["QuestionProblem"][];
            /** @description The asks that are pending. */
            asks?: string[];
            /** @description What changed in the files that the command executes. Empty if the server no longer knows what was there. */
            changes?: components["schemas"]["FileDiff"][];
            /** @description What is wrong with a workflow, place by place. */
            faults?: components["schemas"]["WorkflowFault"][];
            /** @description Where in a file or text, counted from 1. */
            line?: number | null;
            /** @description The column. */
            column?: number | null;
        };
        /** @description What a profile changes. */
        ProfileDefaults: {
            /** @description For questions. */
            questions: components["schemas"]["QuestionDefaults"];
            /** @description For approvals. */
            approvals: components["schemas"]["ApprovalDefaults"];
        };
        /** @description What a browser needs to ask for being woken. */
        PushInfo: {
            /** @description The server's public key; nothing if no channel wakes browsers. */
            publicKey?: string | null;
        };
        /** @description The keys of a browser. */
        PushKeys: {
            /** @description Its public key. */
            p256dh: string;
            /** @description What it shares with the server. */
            auth: string;
        };
        /** @description One question. */
        Question: {
            /** @description What the agent calls it; its position, if it is left out. */
            key?: string | null;
            /** @description A short name. */
            header?: string | null;
            /** @description What is asked. */
            text: string;
            /** @description What it takes. Without options and without this, text. */
            input?: components["schemas"]["InputKind"];
            /** @description Whether several options may be chosen. */
            multiple?: boolean;
            /** @description Whether text of the person's own is taken. */
            custom?: boolean;
            /** @description Whether it must be answered. */
            required?: boolean;
            /** @description Whether the answer is secret. */
            secret?: boolean;
            /**
             * Format: double
             * @description The smallest number.
             */
            minimum?: number | null;
            /**
             * Format: double
             * @description The largest number.
             */
            maximum?: number | null;
            /** @description Whole numbers only. */
            integer?: boolean;
            /** @description The options, in the agent's order. */
            options?: components["schemas"]["QuestionOption"][];
            /** @description What a rule of the person preselects. */
            preselected?: string[] | null;
        };
        /** @description The data of `agent_question_answered`: also when a rule, the policy or a timeout decided. */
        QuestionAnswered: {
            /** @description The run. */
            runId: string;
            /** @description The step. */
            stepId: string;
            /** @description The session. */
            sessionId: string;
            /** @description The ask's id. */
            questionId: string;
            /** @description `answered`, `rejected` or `withdrawn`. */
            status: components["schemas"]["AskStatus"];
            /** @description The answers, one per question; none when it was rejected. */
            answers: components["schemas"]["ShownAnswer"][];
            /** @description The words of a reject, or why it was withdrawn. */
            message?: string | null;
            /**
             * Format: date-time
             * @description When.
             */
            timestamp: string;
            /** @description By whom. */
            by: components["schemas"]["Actor"];
            /** @description What was asked: what a rule decides was not told of before. */
            question: components["schemas"]["RunQuestion"];
        };
        /** @description The data of `agent_question_asked`. */
        QuestionAsked: {
            /** @description The run. */
            runId: string;
            /** @description The step. */
            stepId: string;
            /** @description The session. */
            sessionId: string;
            /** @description What is asked. */
            question: components["schemas"]["RunQuestion"];
            /**
             * Format: date-time
             * @description When.
             */
            timestamp: string;
        };
        /**
         * @description What happens to a question that no rule answers.
         * @enum {string}
         */
        QuestionDefault: "reject" | "accept-first" | "forward" | "auto";
        /** @description What holds for questions when no rule fits. A field that is missing is taken from the scope below. */
        QuestionDefaults: {
            policy?: components["schemas"]["QuestionDefault"] | null;
            /** @description How long a person has: `10m`. */
            timeout?: string | null;
            onTimeout?: components["schemas"]["QuestionTimeout"] | null;
            /** @description What a rejected agent is told. */
            message?: string | null;
        };
        /** @description The object `question` that `question.*` events carry beside the ask. */
        QuestionEventData: {
            /** @description The ask's id. */
            questionId: string;
            /** @description The texts, joined by newline. */
            prompt: string;
            /** @description The labels of the first question. */
            options: string[];
            /** @description The first string of the first answer; `null` if it is secret. */
            response?: string | null;
            /** @description Where it stands. */
            status: components["schemas"]["QuestionStatus"];
            /** @description Why it was rejected or withdrawn. */
            reason?: string | null;
            /** @description The questions. */
            questions: components["schemas"]["Question"][];
        };
        /** @description One question in the gateway dialect. */
        QuestionItem: {
            /** @description A short name, shown as a chip. */
            header: string;
            /** @description What is asked. */
            question: string;
            /** @description What may be chosen. */
            options: components["schemas"]["ItemOption"][];
            /** @description Whether several may be chosen. */
            multiSelect: boolean;
        };
        /** @description One thing that may be chosen. */
        QuestionOption: {
            /** @description What is sent to the agent. The label, if it is left out. */
            value?: string | null;
            /** @description What a person reads. */
            label: string;
            /** @description What it means. */
            description?: string | null;
            /** @description What it would look like. */
            preview?: string | null;
            /** @description Whether the agent marks it as its favourite. */
            recommended?: boolean;
        };
        /** @description What is wrong with the answer to one question. */
        QuestionProblem: {
            /** @description Which question, counted from 0. */
            index: number;
            /** @description Its key. */
            key: string;
            /** @description What is wrong. */
            reason: string;
        };
        /** @description Replies to a question of a session. */
        QuestionReplyRequest: {
            /** @description One list of entries per question. */
            answers: string[][];
        };
        /** @description A question waits for a person. */
        QuestionRequestedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "question.requested";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description A question has its outcome. */
        QuestionResolvedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "question.resolved";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /**
         * @description The status of a question in the question REST dialect. It has three values; a withdrawn question
         *     shows as rejected with a reason.
         * @enum {string}
         */
        QuestionStatus: "requested" | "answered" | "rejected";
        /**
         * @description What happens to a question that nobody answers in time.
         * @enum {string}
         */
        QuestionTimeout: "reject" | "accept-first" | "deny";
        /**
         * @description Whether the agent still waits.
         * @enum {string}
         */
        Reach: "live" | "parked";
        /** @description Whether a group can be claimed. */
        ReadyGroups: {
            /** @description How many complete groups of this name no worker has. */
            ready: number;
        };
        /** @description Gives a claim back. */
        ReleaseRequest: {
            /**
             * Format: int64
             * @description The epoch of the claim.
             */
            epoch: number;
            /** @description Whether the run may have called tools. Then a person decides whether it is resumed again, unless the group has `retry`. */
            started?: boolean;
            /** @description What failed, in words for people. */
            reason?: string | null;
        };
        /** @description Extends the lease of a claim. */
        RenewRequest: {
            /**
             * Format: int64
             * @description The epoch of the claim.
             */
            epoch: number;
            /** @description How long from now, e.g. `60s` (the default), at most `1h`. */
            lease?: string | null;
        };
        /**
         * @description What a stream sends when the past that was asked for is gone: list again, and stream from `seq`. It is not an event: it has
         *     no time.
         */
        ResetEvent: {
            /**
             * Format: int64
             * @description Continue from here.
             */
            seq: number;
            /**
             * @description Always `reset`. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "reset";
            /** @description Always empty. */
            data: components["schemas"]["NoData"];
        };
        /**
         * @description The `type`.
         * @enum {string}
         */
        ResetType: "reset";
        /**
         * @description What a token may do.
         * @enum {string}
         */
        Role: "admin" | "answerer" | "viewer" | "agent";
        /**
         * @description What a rule does.
         * @enum {string}
         */
        RuleEffect: "allow" | "deny" | "ask" | "answer" | "reject";
        /** @description How often one rule decided an ask or left it to a person. */
        RuleHits: {
            /** @description The `key` of the rule. */
            rule: string;
            /** @description How often. Counting stops at 10000. */
            hits: number;
            /**
             * Format: date-time
             * @description When it last did, also before `since`.
             */
            lastAt?: string | null;
        };
        /** @description How often the rules of the saved policy decided. */
        RuleHitsList: {
            /**
             * Format: date-time
             * @description Asks are counted from then on.
             */
            since: string;
            /** @description One entry per rule, and one for the built-in rule. */
            data: components["schemas"]["RuleHits"][];
        };
        /** @description One execution of a workflow. */
        Run: {
            /** @description Its id. */
            id: string;
            /** @description The workflow's name. */
            workflow: string;
            /** @description How it stands. */
            status: components["schemas"]["RunStatus"];
            /** @description Why it failed or was cancelled. */
            reason?: string | null;
            /** @description What it was given. */
            input: {
                [key: string]: string;
            };
            /** @description Where its agents work. */
            directory: string;
            /** @description Its steps, groups opened up, in order. */
            steps: components["schemas"]["RunStep"][];
            /** @description What the finished steps said last, by id. */
            outputs: {
                [key: string]: string;
            };
            /** @description The questions of its agents that wait, first come first (one run only, empty in lists). */
            pendingQuestions?: components["schemas"]["RunQuestion"][];
            /** @description The ids of the checkpoints that wait (one run only). */
            pendingCheckpoints?: string[];
            /** @description The ids of the approvals and links that wait (one run only). */
            pendingApprovals?: string[];
            /**
             * Format: int32
             * @description How many asks wait.
             */
            pending: number;
            /** @description Whether the lists of what waits leave some out because they have many bytes. */
            truncated?: boolean;
            /** @description Labels. */
            labels: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it was started.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When something last changed.
             */
            updatedAt: string;
            /**
             * Format: int64
             * @description The feed position that this was read at (one run only).
             */
            seq?: number | null;
        };
        /** @description Answers or rejects what a run waits for: exactly one of the two. */
        RunAnswerRequest: {
            /**
             * @description One list of entries per question.
             * @default null
             */
            answers?: string[][] | null;
            /**
             * @description Says that no answer will come.
             * @default null
             */
            reject?: boolean | null;
            /**
             * @description Why, when it is rejected; the agent gets these words.
             * @default null
             */
            message?: string | null;
        };
        /** @description What became of it. */
        RunAnswered: {
            /** @description `answered` or `rejected`. */
            status: string;
        };
        /** @description A person cancelled a run. */
        RunCancelledEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run.cancelled";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["RunNews"];
        };
        /** @description Every step of a run is done. */
        RunCompletedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run.completed";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["RunNews"];
        };
        /** @description A run failed. */
        RunFailedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run.failed";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["RunNews"];
        };
        /** @description The data of `run.started`, `run.completed`, `run.failed` and `run.cancelled`. */
        RunNews: {
            /** @description The run. */
            runId: string;
            /** @description The workflow's name. */
            workflow: string;
            /** @description How it stands. */
            status: components["schemas"]["RunStatus"];
            /** @description Why. */
            reason?: string | null;
        };
        /** @description A page of runs, newest first. */
        RunPage: {
            /** @description The runs. */
            data: components["schemas"]["Run"][];
            /** @description Give it as `cursor` to get the next page. */
            nextCursor?: string | null;
            /**
             * Format: int64
             * @description The feed position that this list was read at.
             */
            seq: number;
            /** @description Whether the page ends early because it has many bytes, with fewer entries than `limit`. */
            truncated?: boolean;
        };
        /** @description What the agent of a step asks. */
        RunQuestion: {
            /** @description The ask's id. */
            id: string;
            /** @description The step. */
            stepId: string;
            /** @description The session. */
            sessionId: string;
            /** @description The questions. */
            questions: components["schemas"]["RunQuestionItem"][];
            /**
             * Format: date-time
             * @description When it was asked.
             */
            askedAt: string;
            /**
             * Format: date-time
             * @description When it is decided without a person, if it has a deadline.
             */
            deadlineAt?: string | null;
            onTimeout?: components["schemas"]["OnTimeout"] | null;
        };
        /** @description One question of it. */
        RunQuestionItem: {
            /** @description What is asked. */
            question: string;
            /** @description A short name, at most 30 characters. */
            header: string;
            /** @description What may be chosen. */
            options: components["schemas"]["RunQuestionOption"][];
            /** @description Whether several may be chosen. */
            multiple: boolean;
            /** @description Whether text of one's own is taken. */
            custom?: boolean;
        };
        /** @description An option of it. */
        RunQuestionOption: {
            /** @description What a person reads, and what is answered. */
            label: string;
            /** @description What it means. */
            description?: string | null;
        };
        /** @description A run started. */
        RunStartedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run.started";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["RunNews"];
        };
        /**
         * @description How a run stands.
         * @enum {string}
         */
        RunStatus: "running" | "waiting" | "completed" | "failed" | "cancelled";
        /** @description One step of a run. */
        RunStep: {
            /** @description Its id in the workflow. */
            id: string;
            /** @description The agent; none for a checkpoint. */
            agent?: string | null;
            /** @description What happens to a question of its agent, as a sentence; none for a checkpoint. */
            onQuestion?: string | null;
            /** @description What a checkpoint asks, as the workflow writes it. */
            question?: string | null;
            /** @description `pending`, `running`, `waiting` (a checkpoint), `completed`, `failed` or `cancelled`. */
            status: string;
            /** @description The session that carries it out, or did. */
            sessionId?: string | null;
            /** @description The ask of a checkpoint that is open. */
            askId?: string | null;
            /** @description What it said last. */
            output?: string | null;
            /** @description Why it failed or was cancelled. */
            reason?: string | null;
            /**
             * Format: int32
             * @description How often it began.
             */
            attempts: number;
            /**
             * Format: date-time
             * @description When it began.
             */
            startedAt?: string | null;
            /**
             * Format: date-time
             * @description When it ended.
             */
            endedAt?: string | null;
        };
        /** @description One conversation with one agent. */
        Session: {
            /** @description Its id. */
            id: string;
            /** @description The agent's name. */
            agent: string;
            /** @description The first line of the first prompt. */
            title: string;
            /** @description The directory the agent works in. */
            cwd: string;
            /** @description The git branch at start. */
            branch?: string | null;
            /** @description What it is doing. */
            status: components["schemas"]["SessionStatus"];
            /** @description Why it ended. */
            reason?: string | null;
            /** @description Whether it can be taken up again. */
            resumable?: boolean;
            /** @description The agent's permission mode. */
            permissionMode: string;
            /** @description The model. */
            model?: string | null;
            /** @description What it adds to the person's policy. */
            policy?: Record<string, unknown>;
            /** @description Whether a person runs the agent themselves: it takes outcomes, and nothing else from here. */
            external?: boolean;
            /** @description The agent's own id of the session, where it is known. */
            nativeId?: string | null;
            /** @description Labels. */
            labels: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When it was started.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When something last changed.
             */
            updatedAt: string;
            /** @description Its pending asks (one session only, not in lists). */
            asks?: components["schemas"]["Ask"][] | null;
            /**
             * Format: int32
             * @description How many asks are pending.
             */
            pending: number;
            /** @description Whether `asks` leaves some out because they have many bytes; `GET /v1/asks?session=` lists all of them. */
            truncated?: boolean;
            /**
             * Format: int64
             * @description The feed position that this was read at (one session only).
             */
            seq?: number | null;
        };
        /** @description A session was created. */
        SessionCreatedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "session.created";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["Session"];
        };
        /** @description A session ended. */
        SessionEndedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "session.ended";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["SessionStatusChange"];
        };
        /** @description A page of sessions, newest first. */
        SessionPage: {
            /** @description The sessions. */
            data: components["schemas"]["Session"][];
            /** @description Give it as `cursor` to get the next page. */
            nextCursor?: string | null;
            /**
             * Format: int64
             * @description The feed position that this list was read at.
             */
            seq: number;
            /** @description Whether the page ends early because it has many bytes, with fewer entries than `limit`. */
            truncated?: boolean;
        };
        /**
         * @description What a session is doing.
         * @enum {string}
         */
        SessionStatus: "running" | "waiting" | "idle" | "stalled" | "ended" | "failed";
        /** @description The payload of `session.status` and `session.ended`. */
        SessionStatusChange: {
            /** @description What the session does now. Never `waiting`: that follows from its pending asks. */
            status: components["schemas"]["SessionStatus"];
            /** @description Why it ended. */
            reason?: string | null;
            /** @description Whether it can be resumed. */
            resumable?: boolean;
            /** @description The permission mode, if it changed. */
            permissionMode?: string | null;
            /** @description The model, if it changed. */
            model?: string | null;
        };
        /** @description The status of a session changed. */
        SessionStatusEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "session.status";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["SessionStatusChange"];
        };
        /** @description Writes another text into the policy file. */
        SetPolicy: {
            /** @description The whole text. */
            text: string;
            /** @description The `textFingerprint` of the text that this one replaces. */
            ifFingerprint: string;
        };
        /** @description Switches a profile on or off. */
        SetProfile: {
            /** @description The profile; `null` switches it off. */
            name?: string | null;
            /** @description For how long, e.g. `2h`. */
            for?: string | null;
        };
        /** @description One question's answer as it is shown: the entries, or that there is a secret one. */
        ShownAnswer: string[] | {
            /** @description Always true. */
            secret: boolean;
        };
        /** @description Hides the ask from the inbox for a while. Not a no. */
        SnoozeRequest: {
            /**
             * Format: date-time
             * @description Until when; `null` brings it back.
             */
            until?: string | null;
        };
        /** @description A step of a run was stopped, or never began. */
        StepCancelledEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.cancelled";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["StepNews"];
        };
        /** @description A step of a run is done. */
        StepCompletedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.completed";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["StepNews"];
        };
        /** @description A step of a run failed. */
        StepFailedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.failed";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["StepNews"];
        };
        /** @description The data of `step.started`, `step.completed`, `step.failed` and `step.cancelled`. */
        StepNews: components["schemas"]["RunStep"] & {
            /** @description The run. */
            runId: string;
            /** @description The step. */
            stepId: string;
        };
        /**
         * @description What happens to a question of a step's agent.
         * @enum {string}
         */
        StepQuestions: "reject" | "accept-first" | "forward" | "auto";
        /** @description A step of a run began. */
        StepStartedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.started";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["StepNews"];
        };
        /** @description Submits answers by tool call. */
        SubmitAnswers: {
            /**
             * @description The agent's id of the call.
             * @default null
             */
            toolCallId: string | null;
            /**
             * @description By position: `"0"`, `"1"`; a JSON array as text for a question that takes several.
             * @default null
             */
            answers: {
                [key: string]: string;
            } | null;
        };
        /** @description Which channel to test. */
        TestChannels: {
            /** @description Its name; all of them if it is left out. */
            name?: string | null;
        };
        /** @description What became of a test. */
        Tested: {
            /** @description The channel. */
            name: string;
            /** @description What it is. */
            kind: string;
            /** @description Whether the receiver took it. */
            sent: boolean;
            /** @description Why not. */
            failure?: string | null;
        };
        /** @description What became of all tests. */
        TestedList: {
            /** @description In the order of the configuration. */
            data: components["schemas"]["Tested"][];
        };
        /** @description Which channel comes next, and how much later. */
        Then: {
            /** @description Its name. */
            name: string;
            /** @description How much later. */
            after: string;
        };
        /** @description A token without its secret. */
        Token: {
            /** @description Its id; not the secret. */
            id: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
            /** @description The name of the person or program. */
            actor: string;
            /** @description What the browser that signed in is called. */
            device?: string | null;
            /** @description Only this session. */
            sessionId?: string | null;
            /** @description Only what has all these labels. */
            labels?: {
                [key: string]: string;
            };
            /** @description The only agent that it may be. */
            agent?: string | null;
            /** @description The only directory that it may ask from. */
            project?: string | null;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it ends.
             */
            expiresAt?: string | null;
            /**
             * Format: date-time
             * @description When it was revoked.
             */
            revokedAt?: string | null;
            /**
             * Format: date-time
             * @description When it was last used, if it was since the server started.
             */
            lastUsedAt?: string | null;
        };
        /** @description The tokens. */
        TokenList: {
            /** @description The tokens, newest first. */
            data: components["schemas"]["Token"][];
        };
        /** @description The payload of `tool.started`, `tool.updated` and `tool.completed`: the tool call as a block of the transcript. */
        ToolBlock: {
            /** @description The block's id. */
            id: string;
            /**
             * Format: date-time
             * @description When it was written.
             */
            at: string;
            /** @description The sub-agent that it belongs to. */
            subagent?: string | null;
            /** @description Always `tool`. */
            type?: components["schemas"]["ToolType"];
            /** @description The agent's id of the call. */
            toolCallId: string;
            /** @description The tool's name. */
            name: string;
            /** @description What the tool is called with, as the agent sent it. */
            input?: unknown;
            /** @description What the tool returned. */
            output?: string | null;
            /** @description The state of the call. */
            status: components["schemas"]["ToolCallStatus"];
        };
        /** @description Names a tool call. */
        ToolCallRef: {
            /**
             * @description The agent's id of the call.
             * @default null
             */
            toolCallId: string | null;
        };
        /**
         * @description The state of a tool call.
         * @enum {string}
         */
        ToolCallStatus: "running" | "complete" | "error";
        /** @description A tool call ended. */
        ToolCompletedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.completed";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["ToolBlock"];
        };
        /** @description A tool call began. */
        ToolStartedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.started";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["ToolBlock"];
        };
        /**
         * @description The `type`.
         * @enum {string}
         */
        ToolType: "tool";
        /** @description A tool call changed. */
        ToolUpdatedEvent: {
            /**
             * Format: int64
             * @description Its place in the feed; absent for live-only events.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.updated";
            /** @description The session it belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["ToolBlock"];
        };
        /** @description A transcript: messages, tool calls, notices and asks in the order in which they happened. */
        Transcript: {
            /** @description The blocks. */
            data: Record<string, unknown>[];
            /** @description Give it as `cursor` to get the next page. */
            nextCursor?: string | null;
            /**
             * Format: int64
             * @description The feed position that this was read at.
             */
            seq: number;
            /** @description Whether the page ends early because it has many bytes, with fewer entries than `limit`. */
            truncated?: boolean;
        };
        /** @description Trusts a project's `.sayso.toml` as it is now. */
        TrustRequest: {
            /** @description The project directory. */
            directory: string;
        };
        /** @description What was trusted. */
        Trusted: {
            /** @description The file. */
            path: string;
            /** @description Its fingerprint; another text is not trusted. */
            hash: string;
        };
        /** @description A pause with a question. Its answer is the step's output. */
        WorkflowCheckpoint: {
            /**
             * @description What is asked; a template.
             * @default
             */
            question: string;
            /**
             * @description A short name.
             * @default null
             */
            header?: string | null;
            /** @default null */
            input?: components["schemas"]["CheckpointInput"] | null;
            /**
             * @description What may be chosen.
             * @default []
             */
            options?: components["schemas"]["CheckpointOption"][];
            /**
             * @description Whether several may be chosen.
             * @default false
             */
            multiple?: boolean;
            /**
             * @description Whether own text is accepted besides the options.
             * @default false
             */
            custom?: boolean;
            /**
             * Format: double
             * @description The smallest number.
             * @default null
             */
            minimum?: number | null;
            /**
             * Format: double
             * @description The largest number.
             * @default null
             */
            maximum?: number | null;
            /**
             * @description Whether a number has to be whole.
             * @default false
             */
            integer?: boolean;
        };
        /** @description What is wrong with a workflow. */
        WorkflowFault: {
            /** @description What it is about: `steps[1].prompt`. */
            path: string;
            /** @description What is wrong and what to write. */
            message: string;
            /** @description The line, where it was a file. */
            line?: number | null;
            /** @description The column. */
            column?: number | null;
        };
        /** @description A workflow file. */
        WorkflowFile: {
            /** @description The workflow's name. */
            name: string;
            /** @description What it is for. */
            description?: string | null;
            /** @description Where its agents work, unless a step or the run says otherwise. */
            directory?: string | null;
            /** @description What a run is given, by name. */
            inputs?: {
                [key: string]: components["schemas"]["WorkflowInput"];
            };
            /** @description The steps, one after another. */
            steps: components["schemas"]["WorkflowStep"][];
        };
        /** @description Something that a run is given. */
        WorkflowInput: {
            /**
             * @description What it is.
             * @default null
             */
            description?: string | null;
            /**
             * @description The value if the run gives none. Without a default, the run has to give one.
             * @default null
             */
            default?: string | null;
        };
        /** @description A workflow: the name of a file in the directory `workflows` beside `policy.toml`, or the file as JSON. */
        WorkflowSource: string | components["schemas"]["WorkflowFile"];
        /** @description One step: an `agent` with a `prompt`, a group of `parallel` steps, or a `checkpoint`. */
        WorkflowStep: {
            /**
             * @description Its name, by which later steps use its output.
             * @default
             */
            id: string;
            /**
             * @description The agent's configured name.
             * @default null
             */
            agent?: string | null;
            /**
             * @description What the agent is told; a template.
             * @default null
             */
            prompt?: string | null;
            /**
             * @description Where the agent works.
             * @default null
             */
            directory?: string | null;
            /**
             * @description The model.
             * @default null
             */
            model?: string | null;
            /**
             * @description The agent's permission mode.
             * @default null
             */
            permission_mode?: string | null;
            /** @default null */
            questions?: components["schemas"]["StepQuestions"] | null;
            /**
             * @description How long a person has to answer a forwarded question, for example `30s`.
             * @default null
             */
            question_timeout?: string | null;
            /** @default null */
            on_timeout?: components["schemas"]["OnTimeout"] | null;
            /**
             * @description What a rejected agent is told.
             * @default null
             */
            message?: string | null;
            /** @description What happens to an approval that no rule decides, as in `policy.toml`. */
            approvals?: Record<string, unknown> | null;
            /**
             * @description Rules of the step, as in `policy.toml`. They take precedence over those of `policy.toml`.
             * @default []
             */
            rules?: Record<string, unknown>[];
            /** @default null */
            if_agent_dies?: components["schemas"]["IfAgentDies"] | null;
            /**
             * @description Steps that run at the same time.
             * @default null
             */
            parallel?: components["schemas"]["WorkflowStep"][] | null;
            /** @default null */
            on_failure?: components["schemas"]["OnFailure"] | null;
            /** @default null */
            checkpoint?: components["schemas"]["WorkflowCheckpoint"] | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
