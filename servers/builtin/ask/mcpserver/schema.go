package mcpserver

const askDescription = `Ask the user one or more questions and wait for the answers. The user answers in a terminal beside the editor.

Ask only when the answer changes what you do next and you cannot find it out yourself. Put related questions into one call: 1 to 4 questions with 2 to 5 options each work best. Leave options out for a free-text question.

Write each question so that it can be understood without this conversation: the user may be in another window. Do not add an "other" option; the user can always type their own answer. Mark your suggestion with recommended (index of the option). Use multi when several options may be chosen. Never ask for passwords, keys or other secrets.

If the call is moved to the background, do not act on the open point before the answer has come. If status is pending, call ask_wait with the id. After declined or timed_out do not ask the same again.`

const waitDescription = `Wait for the answer to a question that ask returned with status pending. Give the id from that result. Returns the same results as ask; while the user has not answered it may return pending again: then call it again.`

const askInput = `{"type":"object","required":["questions"],"properties":{
"questions":{"type":"array","minItems":1,"description":"related questions, shown together","items":{"type":"object","required":["question"],"properties":{
"id":{"type":"string","description":"key of the answer; made up if left out"},
"question":{"type":"string","description":"the question, complete in itself"},
"header":{"type":"string","description":"one or two words for the tab"},
"description":{"type":"string","description":"context the user needs, Markdown"},
"options":{"type":"array","description":"leave out for free text","items":{"type":"object","required":["label"],"properties":{
"label":{"type":"string"},"description":{"type":"string"},"preview":{"type":"string","description":"code or text to compare options by"}}}},
"multi":{"type":"boolean","description":"several options may be chosen"},
"recommended":{"type":"integer","description":"index of the option you suggest, from 0"},
"allowOther":{"type":"boolean","description":"false: no free text"},
"required":{"type":"boolean","description":"false: may be left open"},
"kind":{"type":"string","description":"choice, text or confirm"},
"minSelect":{"type":"integer"},"maxSelect":{"type":"integer"},
"placeholder":{"type":"string"}}}},
"title":{"type":"string","description":"what this is about"},
"timeoutSeconds":{"type":"integer","description":"give up after this long; leave out to wait"}}}`

const waitInput = `{"type":"object","required":["id"],"properties":{
"id":{"type":"string","description":"from the pending result"},
"timeoutSeconds":{"type":"integer","description":"return pending after this long"}}}`

const resultSchema = `{"type":"object","required":["status","message","answers"],"properties":{
"status":{"type":"string","enum":["answered","partial","declined","timed_out","pending","unavailable"]},
"message":{"type":"string"},
"id":{"type":"string"},
"answers":{"type":"array","items":{"type":"object","required":["id","question","selectedOptions"],"properties":{
"id":{"type":"string"},"question":{"type":"string"},
"selectedOptions":{"type":"array","items":{"type":"string"}},
"customInput":{"type":"string"},
"notes":{"type":"object","additionalProperties":{"type":"string"}},
"note":{"type":"string"},"skipped":{"type":"boolean"},"clarify":{"type":"string"}}}}}}`
